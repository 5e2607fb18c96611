//go:build !linux

package main

// adoptingMain is the program: there are no subreapers here.
func adoptingMain() { main() }
