package providers

import "iter"

// Response is one whole answer of a model.
type Response struct {
	Text     string
	Thinking string
	// Calls are in slot order; each has its State decided by the end of the stream and the classifier.
	Calls []Call
	// Extra counts calls beyond the limit that were dropped.
	Extra  int
	Usage  Usage
	Model  string
	Finish FinishReason
	// RawFinish is the vendor's own word for the end.
	RawFinish string
}

// Collect reads a whole stream. Every fragment is handed to sink as it arrives (sink may be nil and must not block);
// calls are assembled only after the end was seen. On an error the response holds what had arrived, its calls
// classified as truncated, and the error is returned beside it.
//
// It is declared here and filled in by the classifier's file; see arguments.go.
func Collect(seq iter.Seq2[Fragment, error], sink func(Fragment)) (Response, error) {
	panic("replaced by the real one before anything calls it")
}
