package peer

import (
	"strconv"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Seen is what the one subscriber was told of: how many objects or reconciles, and the last version.
type Seen struct {
	mutex   sync.Mutex
	news    *sync.Cond
	count   int
	version int64
}

// NewSeen makes one that has seen nothing.
func NewSeen() *Seen {
	s := &Seen{}
	s.news = sync.NewCond(&s.mutex)
	return s
}

// Take notes the version of an object, and how many more there are with it.
func (s *Seen) Take(object metav1.Object, more int) {
	version, _ := strconv.ParseInt(object.GetResourceVersion(), 10, 64)
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.count += more
	s.version = max(s.version, version)
	s.news.Broadcast()
}

// Count notes one more.
func (s *Seen) Count() {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.count++
	s.news.Broadcast()
}

// WaitForVersion waits until an object with this version, or a later one, has come.
func (s *Seen) WaitForVersion(version int64) Facts {
	return s.waitFor(func() bool { return s.version >= version })
}

// WaitForCount waits until there were so many.
func (s *Seen) WaitForCount(count int) Facts {
	return s.waitFor(func() bool { return s.count >= count })
}

func (s *Seen) waitFor(isThere func() bool) Facts {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for !isThere() {
		s.news.Wait()
	}
	return Facts{"objects": s.count}
}
