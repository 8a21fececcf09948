package discordsim

import (
	"encoding/json"
	"strconv"
)

// Gateway opcodes.
const (
	opDispatch       = 0
	opHeartbeat      = 1
	opIdentify       = 2
	opPresence       = 3
	opVoiceState     = 4
	opResume         = 6
	opReconnect      = 7
	opRequestMembers = 8
	opInvalidSession = 9
	opHello          = 10
	opHeartbeatAck   = 11
)

// Gateway close codes.
const (
	closeNormal            = 1000
	closeGoingAway         = 1001
	closeAbnormal          = 1006
	closeUnknownOpcode     = 4001
	closeDecodeError       = 4002
	closeNotAuthenticated  = 4003
	closeBadToken          = 4004
	closeAlreadyIdentified = 4005
	closeInvalidSeq        = 4007
	closeRateLimited       = 4008
	closeTimedOut          = 4009
	closeInvalidShard      = 4010
	closeInvalidIntents    = 4013
	closeDisallowedIntents = 4014
)

// wireReceived is any frame of a client.
type wireReceived struct {
	Op   int             `json:"op"`
	Data json.RawMessage `json:"d"`
}

type wireIdentify struct {
	Token   string   `json:"token"`
	Intents *Intents `json:"intents"`
	Shard   *[2]int  `json:"shard"`
}

type wireResume struct {
	Token     string `json:"token"`
	SessionID string `json:"session_id"`
	Seq       int64  `json:"seq"`
}

type wireReady struct {
	Version          int               `json:"v"`
	User             wireSelf          `json:"user"`
	Guilds           []wireUnavailable `json:"guilds"`
	SessionID        string            `json:"session_id"`
	ResumeGatewayURL string            `json:"resume_gateway_url"`
	SessionType      string            `json:"session_type"`
	Shard            [2]int            `json:"shard"`
	Application      wireReadyApp      `json:"application"`
	PrivateChannels  []struct{}        `json:"private_channels"`
	Relationships    []struct{}        `json:"relationships"`
	Presences        []struct{}        `json:"presences"`
}

type wireReadyApp struct {
	ID    ID  `json:"id"`
	Flags int `json:"flags"`
}

// control is a frame that is no event.
func control(op int, data string) []byte {
	return []byte(`{"op":` + strconv.Itoa(op) + `,"d":` + data + `,"s":null,"t":null}`)
}

// event is a dispatch frame.
func eventFrame(name string, seq int64, data []byte) []byte {
	b := make([]byte, 0, len(data)+64)
	b = append(b, `{"op":0,"t":"`...)
	b = append(b, name...)
	b = append(b, `","s":`...)
	b = strconv.AppendInt(b, seq, 10)
	b = append(b, `,"d":`...)
	b = append(b, data...)
	return append(b, '}')
}
