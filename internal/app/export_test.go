package app

// For tests of what the composition root derives from the configuration.
var (
	LoopLimits = loopLimits
	TurnLimits = turnLimits
)
