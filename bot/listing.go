package bot

import (
	"strings"

	"github.com/parleybot/parley/bot/delivery"
)

// listing is a private answer of a head and lines. What doesn't fit a message is left out, and all of it is attached.
func listing(file, head string, lines []string) said {
	const note = "\n… The rest is in the attached file."
	text := head
	for n, line := range lines {
		left := maxMessage - units(text) - 1 - units(line)
		if left < 0 || n < len(lines)-1 && left < units(note) {
			s := privately(text + note)
			s.message = s.message.with(delivery.File{Name: file, Data: []byte(head + "\n" + strings.Join(lines, "\n") + "\n")})
			return s
		}
		text += "\n" + line
	}
	return privately(text)
}

// names shows untrusted words side by side.
func names(words []string) string {
	shown := make([]string, len(words))
	for n, w := range words {
		shown[n] = inline(w, 80)
	}
	return strings.Join(shown, ", ")
}
