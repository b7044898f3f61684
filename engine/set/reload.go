package set

import (
	"fmt"
	"reflect"
)

// CheckReload says what speaks against running s, which has passed [Compose], in the place of before while a session goes on. What
// is managed stays as it is until the next start: each extension of the managed layer must still be there, unchanged and in that
// layer (the module that it names may have other bytes, unless they are pinned), and recheck, pairs and protect stay on when they are. Nil
// sets name nothing. The error is Errors.
func (s *Set) CheckReload(before *Set) error {
	if before == nil {
		return nil
	}
	if s == nil {
		s = &Set{Version: Version, Recheck: true, Pairs: true, Protect: true}
	}
	const later = "such a change takes effect with the next start"
	var errs Errors
	for _, key := range []struct {
		name       string
		was, stays bool
	}{{"recheck", before.Recheck, s.Recheck}, {"pairs", before.Pairs, s.Pairs}, {"protect", before.Protect, s.Protect}} {
		if key.was && !key.stays {
			errs = append(errs, s.At(key.name).Error(key.name, "a reload cannot switch off "+key.name, later))
		}
	}
	for i := range before.Extensions {
		old := &before.Extensions[i]
		if old.Source != LayerManaged {
			continue
		}
		var now *Extension
		for j := range s.Extensions {
			if s.Extensions[j].Name == old.Name {
				now = &s.Extensions[j]
			}
		}
		switch {
		case now == nil || now.Source != LayerManaged:
			errs = append(errs, old.Pos.Error("extension.name", fmt.Sprintf("the managed extension %q is gone, which a reload cannot take away", old.Name), later))
		case !old.same(now):
			errs = append(errs, now.Pos.Error("extension", fmt.Sprintf("the managed extension %q is not what it was, and a reload cannot change it", old.Name), later))
		}
	}
	if errs != nil {
		return errs
	}
	return nil
}

// same says whether two extensions mean the same, wherever they stand.
func (e *Extension) same(o *Extension) bool {
	a, b := *e, *o
	a.Pos, a.where, b.Pos, b.where = Position{}, nil, Position{}, nil
	return reflect.DeepEqual(a, b)
}
