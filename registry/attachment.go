package registry

// AttachmentKind is what kind of media a message carries.
type AttachmentKind string

// The attachment kinds. A GIF is told as AttachmentGIF and as AttachmentImage.
const (
	AttachmentFile  AttachmentKind = "file"
	AttachmentImage AttachmentKind = "image"
	AttachmentGIF   AttachmentKind = "gif"
	AttachmentVideo AttachmentKind = "video"
	AttachmentAudio AttachmentKind = "audio"
)

// TriggerAttachment matches a kind of media on the triggering message; its pattern is an AttachmentKind. Only tools
// declare it, people cannot write it.
const TriggerAttachment TriggerKind = "attachment"

// OnAttachment returns triggers for media on the triggering message.
func OnAttachment(kinds ...AttachmentKind) []Trigger {
	out := make([]Trigger, len(kinds))
	for i, k := range kinds {
		out[i] = Trigger{Kind: TriggerAttachment, Pattern: string(k)}
	}
	return out
}
