package simulator

// order is the list of nodes by their last change, newest first. Nodes that
// were never changed after their creation are not in it: their updated_at is
// null and sorts behind all others.
type order struct{ newest *node }

// touch moves a node to the front.
func (o *order) touch(n *node) {
	o.remove(n)
	n.next = o.newest
	if o.newest != nil {
		o.newest.prev = n
	}
	o.newest, n.inOrder = n, true
}

// remove takes a node out of the list.
func (o *order) remove(n *node) {
	if !n.inOrder {
		return
	}
	if n.prev != nil {
		n.prev.next = n.next
	} else {
		o.newest = n.next
	}
	if n.next != nil {
		n.next.prev = n.prev
	}
	n.prev, n.next, n.inOrder = nil, nil, false
}
