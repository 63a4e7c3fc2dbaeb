module github.com/ambitfs/ambit/bench

go 1.26.5

require (
	github.com/ambitfs/ambit v0.1.0
	github.com/go-git/go-billy/v5 v5.9.2
	github.com/google/renameio/v2 v2.0.2
	github.com/spf13/afero v1.15.0
	golang.org/x/sys v0.49.0
)

require (
	github.com/aymanbagabas/go-udiff v0.4.2 // indirect
	github.com/bluekeyes/go-gitdiff v0.9.0 // indirect
	github.com/gabriel-vasile/mimetype v1.4.16 // indirect
	github.com/gobwas/glob v1.1.0 // indirect
	golang.org/x/text v0.44.0 // indirect
)
