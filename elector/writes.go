package elector

// A sent write is one that this elector has sent and whose fate it may not know.
type sent struct {
	record  Record
	prev    string // the version it replaces; "" for a create
	at      instant
	refused bool // answered with a conflict; a hidden retry below us may still have stored it
	acquire bool // meant to begin a term
}

// writes is what this elector has written: the last write that is known to be stored, and every later one whose fate
// is open. A record is this elector's own only if it is one of these.
type writes struct {
	confirmed sent
	known     bool   // there is a confirmed write
	open      []sent // in the order of sending
}

// maxOpen bounds the writes of unknown fate. Forgetting the oldest is safe: if it is stored after all it is waited out
// like a stranger's.
const maxOpen = 64

func newWrites() writes { return writes{open: make([]sent, 0, maxOpen)} }

func (w *writes) add(s sent) {
	if len(w.open) == maxOpen {
		copy(w.open, w.open[1:])
		w.open = w.open[:maxOpen-1]
	}
	w.open = append(w.open, s)
}

// drop forgets the write with this mark: it was certainly not stored.
func (w *writes) drop(mark string) {
	for i := range w.open {
		if w.open[i].record.Mark == mark {
			w.open = append(w.open[:i], w.open[i+1:]...)
			return
		}
	}
}

// refuse notes that the write with this mark was answered with a conflict.
func (w *writes) refuse(mark string) {
	for i := range w.open {
		if w.open[i].record.Mark == mark {
			w.open[i].refused = true
		}
	}
}

// confirm makes s the stored write. No earlier one can be stored any more: the version that it replaces is gone.
func (w *writes) confirm(s sent) {
	w.confirmed, w.known = s, true
	w.open = w.open[:0]
}

// find returns the write of this elector that r is, the earliest if several are identical, and whether it was open.
func (w *writes) find(r Record) (s sent, open, ok bool) {
	for i := range w.open {
		if w.open[i].adoptable(r) && w.open[i].wrote(r) {
			return w.open[i], true, true
		}
	}
	if w.known && w.confirmed.wrote(r) {
		return w.confirmed, false, true
	}
	return sent{}, false, false
}

// settle forgets the open writes that can no longer be stored, now that version is and none of them made it.
func (w *writes) settle(version string) {
	kept := w.open[:0]
	for _, s := range w.open {
		if s.prev == version || s.prev == "" {
			kept = append(kept, s)
		}
	}
	w.open = kept
}

// wrote reports whether r is what s wrote. The other fields may have been edited by an administrator since.
func (s *sent) wrote(r Record) bool {
	return s.record.Holder == r.Holder && s.record.AcquireTime.Equal(r.AcquireTime) &&
		s.record.RenewTime.Equal(r.RenewTime) && (s.record.Mark == r.Mark || r.Mark == "")
}

// adoptable: without a mark a refused write cannot be told from a twin's.
func (s *sent) adoptable(r Record) bool { return r.Mark != "" || !s.refused }
