package connectivity

import "math/bits"

// wordBits is how many hosts a word holds.
const wordBits = 64

// hostBits is a set of hosts by their place in the graph.
type hostBits []uint64

func newBits(n int) hostBits { return make(hostBits, (n+wordBits-1)/wordBits) }

func (b hostBits) has(i int) bool { return b[i/wordBits]&(1<<(i%wordBits)) != 0 }

func (b hostBits) set(i int) { b[i/wordBits] |= 1 << (i % wordBits) }

func (b hostBits) put(i int, in bool) {
	if in {
		b.set(i)
		return
	}
	b[i/wordBits] &^= 1 << (i % wordBits)
}

func (b hostBits) count() int { return b.countWithout(nil) }

// countWithout counts the members that the other set does not have.
func (b hostBits) countWithout(other hostBits) int {
	n := 0
	for i, word := range b {
		if other != nil {
			word &^= other[i]
		}
		n += bits.OnesCount64(word)
	}
	return n
}
