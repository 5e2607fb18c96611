package textformat

// Estimates of the memory that the series of a target take. TestMemoryOfASeries compares them with
// the heap.
const (
	// textOverhead and seriesOverhead are what a cached text and series take in their maps.
	textOverhead   = 80
	seriesOverhead = 128
	// sampleBytes is what a sample takes in a slice that doubles, and sampleChunk how many are
	// charged at once.
	sampleBytes = 64
	sampleChunk = 64
	// familyOverhead is what the metadata of a metric takes without its texts.
	familyOverhead = 160
)

// textBytes returns what a cached text of a length takes.
func textBytes(length int) int64 { return textOverhead + int64(length) }

// bytes returns what a cached series takes.
func (s *series) bytes() int64 { return seriesOverhead + int64(s.labels.ByteSize()) }

// charge charges for what is kept until the next text.
func (p *Parser) charge(bytes int64) error {
	if err := p.Memory.Grow(bytes); err != nil {
		return err
	}
	p.held += bytes
	return nil
}
