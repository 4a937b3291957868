package pickle

// build creates and fills containers and rejects other opcodes.
func (r *Reader) build(op byte) error {
	switch op {
	case ']', '}', ')':
		return r.empty(kindOf(op))
	case 'l', 'd', 't':
		items, err := r.marked()
		if err != nil {
			return err
		}
		return r.made(kindOf(op), items)
	case 0x85, 0x86, 0x87:
		n := int(op-0x85) + 1
		if len(r.stack)-r.floor() < n {
			return r.wrong(r.offset()-1, "a tuple of %d, and fewer are on the stack", n)
		}
		items := r.stack[len(r.stack)-n:]
		r.stack = r.stack[:len(r.stack)-n]
		return r.made(Tuple, items)
	case 'a', 's':
		n := 1
		if op == 's' {
			n = 2
		}
		if len(r.stack)-r.floor() < n+1 {
			return r.wrong(r.offset()-1, "an item without a list or a dict to go to")
		}
		items := r.stack[len(r.stack)-n:]
		r.stack = r.stack[:len(r.stack)-n]
		return r.filled(op == 's', items, false)
	case 'e', 'u':
		items, err := r.marked()
		if err != nil {
			return err
		}
		return r.filled(op == 'u', items, op == 'u' && len(items) < 2*batch)
	}
	at := r.offset() - 1
	if why, ok := refused[op]; ok {
		return r.wrong(at, "opcode 0x%02x %s: only plain data is read, and nothing is run", op, why)
	}
	return r.wrong(at, "0x%02x is not an opcode of a pickle", op)
}

// kindOf returns the kind that an opcode creates.
func kindOf(op byte) Kind {
	switch op {
	case ']', 'l':
		return List
	case '}', 'd':
		return Dict
	}
	return Tuple
}

func (r *Reader) empty(k Kind) error {
	c := &Container{}
	if n := len(r.spare); n > 0 {
		c, r.spare = r.spare[n-1], r.spare[:n-1]
	}
	c.Kind = k
	r.push(Value{Kind: k, of: c})
	return r.Hold(perContainer)
}

// made pushes a container of the given items.
func (r *Reader) made(k Kind, items []Value) error {
	if k == Dict && len(items)%2 != 0 {
		return r.wrong(r.offset()-1, "a dict of %d keys and values", len(items))
	}
	c := &Container{Kind: k}
	if err := r.move(c, items); err != nil {
		return err
	}
	r.push(Value{Kind: k, of: c})
	return r.Hold(perContainer)
}

// move moves items into a container; nested containers are complete by then.
func (r *Reader) move(c *Container, items []Value) error {
	grown := int64(0)
	for _, v := range items {
		if v.of != nil {
			v = r.packed(v)
		}
		if v.Kind != Packed {
			c.Items = append(c.Items, v)
			grown++
		} else if c.add(v) {
			grown++
		}
	}
	return r.Hold(grown * perItem)
}

// filled adds items to the list or dict below them; whole reports that it is complete.
func (r *Reader) filled(dict bool, items []Value, whole bool) error {
	at := r.offset() - 1
	if len(r.stack) == r.floor() {
		return r.wrong(at, "items without a list or a dict to go to")
	}
	into := r.stack[len(r.stack)-1]
	want := List
	if dict {
		want = Dict
	}
	if into.Kind != want || dict && len(items)%2 != 0 {
		return r.wrong(at, "items for a list or a dict, and none is there that takes them")
	}
	if err := r.move(into.of, items); err != nil {
		return err
	}
	if whole {
		r.stack[len(r.stack)-1] = r.packed(into)
	}
	return nil
}

// packed returns the client's replacement of a complete container.
func (r *Reader) packed(v Value) Value {
	c := v.of
	if r.Whole == nil || c == nil || c.Kind == Tuple {
		return v
	}
	packed, ok := r.Whole(c)
	if !ok {
		if c.known && !c.kept {
			c.kept = true
			r.keep(c.memo, v)
			r.held += perMemo
		}
		return v
	}
	r.held -= perContainer + int64(len(c.Items))*perItem
	if c.known && packed.tag != 0 { // tag 0 is not referred to again
		r.keep(c.memo, packed)
		r.held += perMemo
	}
	const mostSpare = 4096
	if len(r.spare) < mostSpare {
		c.Items, c.known, c.kept = c.Items[:0], false, false
		r.spare = append(r.spare, c)
	}
	return packed
}
