package wire

import (
	"bufio"
	"strings"
)

const jsonSpace = " \t\r\n"

// FirstByte looks at the first byte that is no white space; 0 when none comes.
func FirstByte(r *bufio.Reader) byte {
	for {
		b, err := r.ReadByte()
		if err != nil {
			return 0
		}
		if strings.IndexByte(jsonSpace, b) < 0 {
			_ = r.UnreadByte()
			return b
		}
	}
}
