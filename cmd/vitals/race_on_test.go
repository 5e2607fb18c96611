//go:build race

package main

// underRace says that the race detector watches, so that all takes much longer.
const underRace = true
