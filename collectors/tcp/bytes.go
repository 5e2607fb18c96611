package tcp

// tcpBytes is a message of a binary protocol, which is read from the front.
type tcpBytes struct {
	data []byte
	// short is set when more was read than there is. What is read then is empty.
	short bool
}

func (b *tcpBytes) take(n uint64) []byte {
	if n > uint64(len(b.data)) {
		b.data, b.short = nil, true
		return nil
	}
	taken := b.data[:n]
	b.data = b.data[n:]
	return taken
}
