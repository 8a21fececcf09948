package turn

// Reserved is how many turns the limits count as running or waiting; 0 when all have ended.
func (m *Manager) Reserved() int {
	m.limiter.mu.Lock()
	defer m.limiter.mu.Unlock()
	n := 0
	for _, count := range m.limiter.members {
		n += count
	}
	return n
}
