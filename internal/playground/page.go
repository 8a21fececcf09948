package playground

import (
	"embed"
	"io/fs"
	"net/http"
)

//go:embed web
var web embed.FS

// page serves the embedded page.
func page() http.Handler {
	root, err := fs.Sub(web, "web")
	if err != nil {
		panic(err) // The folder is embedded above.
	}
	return http.FileServerFS(root)
}
