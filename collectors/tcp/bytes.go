package tcp

// message is a message of a binary protocol, read from the front.
type message struct {
	data []byte
	// short is set after a read beyond the end, which returns nothing.
	short bool
}

func (b *message) take(n uint64) []byte {
	if n > uint64(len(b.data)) {
		b.data, b.short = nil, true
		return nil
	}
	taken := b.data[:n]
	b.data = b.data[n:]
	return taken
}
