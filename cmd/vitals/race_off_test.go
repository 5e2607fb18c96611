//go:build !race

package main

// underRace reports whether the race detector is on, which makes everything slower.
const underRace = false
