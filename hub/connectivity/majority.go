package connectivity

// Least is the smallest group of a cluster of several hosts that means something.
const Least = 3

// Groups returns the majority group of each network by the network's name: the
// ids in order, or none when fewer than least hosts reach one another.
func (g *Graph) Groups(least int) map[string][]string {
	out := map[string][]string{}
	for n, network := range g.networks {
		group := []string{}
		alive := majority(g.mutual[n])
		if alive.count() >= least {
			for i, id := range g.hosts {
				if alive.has(i) {
					group = append(group, id)
				}
			}
		}
		out[network.Name] = group
	}
	return out
}

// majority leaves out, one by one, the host that misses most of the others,
// until all that are left reach one another. A host that is cut off goes first,
// then the smaller side of a network that fell apart. Of equals, the later one
// goes. The largest group of all would take exponential time to find; this one
// takes quadratic time at worst, and linear time when all is well.
func majority(mutual []hostBits) hostBits {
	alive := newBits(len(mutual))
	for i := range mutual {
		alive.set(i)
	}
	missing := make([]int, len(mutual))
	for i, row := range mutual {
		missing[i] = alive.countWithout(row)
	}
	var left []int
	for {
		worst := -1
		for i := range mutual {
			if alive.has(i) && missing[i] > 0 && (worst < 0 || missing[i] >= missing[worst]) {
				worst = i
			}
		}
		if worst < 0 {
			break
		}
		alive.put(worst, false)
		left = append(left, worst)
		for i := range mutual {
			if alive.has(i) && !mutual[worst].has(i) {
				missing[i]--
			}
		}
	}
	// One that went early may fit now that others have gone, too.
	for _, i := range left {
		if alive.countWithout(mutual[i]) == 0 {
			alive.set(i)
		}
	}
	return alive
}
