package window

// Bytes returns the sum of the estimates of all series.
func Bytes(w *Window) (all int64) {
	for _, f := range w.families {
		for _, s := range f.series {
			all += s.bytes()
		}
	}
	return all
}
