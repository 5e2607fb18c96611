package evaluator

// alertBytes is what an alert takes without its labels: the struct, its place in the map,
// and what is shown of it.
const alertBytes = 512

// bytes returns an estimate of the memory that an alert takes. Its labels are also in its
// own series and in its sample.
func (m matched) bytes() int64 { return alertBytes + 3*int64(m.labels.ByteSize()) }

// reserve reserves memory for those that are new.
func (a *alerting) reserve(next map[uint64]matched) error {
	var bytes int64
	for h, m := range next {
		if _, ok := a.active[h]; !ok {
			bytes += m.bytes()
		}
	}
	if bytes == 0 {
		return nil
	}
	return a.memory.Grow(bytes)
}

// end removes an alert.
func (a *alerting) end(hash uint64) {
	a.memory.Add(-matched{labels: a.active[hash].labels}.bytes())
	delete(a.active, hash)
}
