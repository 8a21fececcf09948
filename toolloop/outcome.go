package toolloop

import "github.com/parleybot/parley/store"

// Outcome is what executing one call means for the loop. The set is closed.
//
//sumtype:decl
type Outcome interface{ outcome() }

// Restart means that the tool enriched the context instead of giving a result: nothing is appended, and the model is
// asked again.
type Restart struct{}

// Abort ends the turn with Status. Entry is set only for a denial, which is recorded although it ends the turn.
type Abort struct {
	Status store.TurnStatus
	Entry  *Entry
	// Err is the operator's text where the abort is a fault rather than a wish.
	Err error
}

// History is the normal outcome: Entry is appended and the loop goes on, unless EndTurn.
type History struct {
	Entry   Entry
	Success bool
	EndTurn bool
	Sticker StickerChange
	// uncounted failures do not count toward the cap of consecutive errors.
	uncounted bool
	// settles: a success that ends the turn when visible text came before it.
	settles bool
}

func (Restart) outcome() {}
func (Abort) outcome()   {}
func (History) outcome() {}

// StickerChange is what a call did to the turn's sticker. The set is closed.
//
//sumtype:decl
type StickerChange interface{ stickerChange() }

// StickerUntouched leaves an earlier selection as it is.
type StickerUntouched struct{}

// StickerCleared removes an earlier selection.
type StickerCleared struct{}

// StickerSelected replaces an earlier selection.
type StickerSelected struct{ ID string }

func (StickerUntouched) stickerChange() {}
func (StickerCleared) stickerChange()   {}
func (StickerSelected) stickerChange()  {}
