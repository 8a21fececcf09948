package netguard

import (
	"encoding/binary"
	"io"
	"net"
	"net/netip"
)

// serveDNS answers questions on one connection, in the framing of DNS over TCP, until it is closed: A questions with
// one address, all others with none.
func serveDNS(conn net.Conn, answer func() netip.Addr) {
	defer conn.Close()
	for {
		var size [2]byte
		if _, err := io.ReadFull(conn, size[:]); err != nil {
			return
		}
		query := make([]byte, binary.BigEndian.Uint16(size[:]))
		if _, err := io.ReadFull(conn, query); err != nil {
			return
		}
		reply := dnsReply(query, answer)
		framed := binary.BigEndian.AppendUint16(nil, uint16(len(reply)))
		if _, err := conn.Write(append(framed, reply...)); err != nil {
			return
		}
	}
}

func dnsReply(query []byte, answer func() netip.Addr) []byte {
	const headerLen, typeA = 12, 1
	end := headerLen
	for query[end] != 0 { // labels of the one question
		end += 1 + int(query[end])
	}
	question := query[headerLen : end+5] // zero label, type, class
	reply := append([]byte{}, query[0], query[1], 0x81, 0x80, 0, 1, 0, 0, 0, 0, 0, 0)
	reply = append(reply, question...)
	if binary.BigEndian.Uint16(query[end+1:]) != typeA {
		return reply
	}
	reply[7] = 1                                                             // one answer
	reply = append(reply, 0xc0, headerLen, 0, typeA, 0, 1, 0, 0, 0, 0, 0, 4) // the name above, no time to live
	addr := answer().As4()
	return append(reply, addr[:]...)
}
