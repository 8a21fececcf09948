package discordsim

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
)

const maxContent = 2000

// messageForm is the body of a message create or edit, of an interaction answer and of a follow-up. Pointers tell absent
// from empty.
type messageForm struct {
	Content         *string            `json:"content"`
	Embeds          *[]json.RawMessage `json:"embeds"`
	Components      *[]json.RawMessage `json:"components"`
	Flags           *int               `json:"flags"`
	TTS             *bool              `json:"tts"`
	Nonce           any                `json:"nonce"`
	EnforceNonce    *bool              `json:"enforce_nonce"`
	AllowedMentions *mentionsForm      `json:"allowed_mentions"`
	Reference       *referenceForm     `json:"message_reference"`
	StickerIDs      []ID               `json:"sticker_ids"`
	Attachments     *[]attachmentForm  `json:"attachments"`
}

type mentionsForm struct {
	Parse       []string `json:"parse"`
	Users       []ID     `json:"users"`
	Roles       []ID     `json:"roles"`
	RepliedUser *bool    `json:"replied_user"`
}

type referenceForm struct {
	Type            int   `json:"type"`
	MessageID       ID    `json:"message_id"`
	ChannelID       ID    `json:"channel_id"`
	GuildID         ID    `json:"guild_id"`
	FailIfNotExists *bool `json:"fail_if_not_exists"`
}

// attachmentForm describes an uploaded file by its index, or keeps an old attachment by its id.
type attachmentForm struct {
	ID          json.RawMessage `json:"id"`
	Filename    string          `json:"filename"`
	Description string          `json:"description"`
}

func (a attachmentForm) id() string { return string(bytes.Trim(a.ID, `"`)) }

// content is the text as Discord keeps it: without the white space around it.
func (m *messageForm) content() string {
	if m.Content == nil {
		return ""
	}
	return strings.TrimFunc(*m.Content, unicode.IsSpace)
}

// blank reports whether a text shows nothing. Zero width characters count as nothing: Discord is not consistent there,
// so the strict way is taken.
func blank(s string) bool {
	return strings.TrimFunc(s, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.Is(unicode.Cf, r)
	}) == ""
}

// tooLong measures a text. Discord counts code points; the UTF-16 length is never smaller, and holding clients to it
// catches those who count neither.
func tooLong(text string) bool { return len(utf16.Encode([]rune(text))) > maxContent }

// check finds everything wrong with the form's own fields.
func (m *messageForm) check(files []uploadedFile) error {
	f := &form{}
	if tooLong(m.content()) {
		f.tooLong("content", maxContent)
	}
	if m.Flags != nil && *m.Flags&FlagComponentsV2 != 0 {
		if m.content() != "" {
			f.add("content", "MESSAGE_CANNOT_USE_LEGACY_FIELDS_WITH_COMPONENTS_V2", "The 'content' field cannot be used when using MessageFlags.IS_COMPONENTS_V2")
		}
		if m.Embeds != nil && len(*m.Embeds) > 0 {
			f.add("embeds", "MESSAGE_CANNOT_USE_LEGACY_FIELDS_WITH_COMPONENTS_V2", "The 'embeds' field cannot be used when using MessageFlags.IS_COMPONENTS_V2")
		}
	}
	if n := m.nonce(); len(n) > 25 {
		f.tooLong("nonce", 25)
	}
	if len(m.StickerIDs) > 3 {
		f.badLength("sticker_ids", 0, 3)
	}
	if len(files) > maxFiles {
		f.badLength("files", 0, maxFiles)
	}
	m.checkMentions(f)
	if m.Embeds != nil {
		checkEmbeds(f, *m.Embeds)
	}
	if m.Components != nil {
		checkComponents(f, *m.Components, m.Flags != nil && *m.Flags&FlagComponentsV2 != 0)
	}
	return f.err()
}

func (m *messageForm) checkMentions(f *form) {
	a := m.AllowedMentions
	if a == nil {
		return
	}
	for i, p := range a.Parse {
		if !slices.Contains([]string{"everyone", "users", "roles"}, p) {
			f.add(fmt.Sprintf("allowed_mentions.parse.%d", i), "BASE_TYPE_CHOICES", "Value must be one of ('everyone', 'roles', 'users').")
		}
	}
	for name, ids := range map[string][]ID{"users": a.Users, "roles": a.Roles} {
		if len(ids) > 100 {
			f.badLength("allowed_mentions."+name, 0, 100)
		}
		if len(ids) > 0 && slices.Contains(a.Parse, name) {
			f.add("allowed_mentions", "MESSAGE_ALLOWED_MENTIONS_PARSE_EXCLUSIVE",
				fmt.Sprintf("parse:[%q] and %s: [ids...] are mutually exclusive.", name, name))
		}
	}
}

func (m *messageForm) allowed() allowedMentions {
	a := m.AllowedMentions
	if a == nil {
		return everythingAllowed
	}
	return allowedMentions{
		set:         true,
		everyone:    slices.Contains(a.Parse, "everyone"),
		users:       slices.Contains(a.Parse, "users"),
		roles:       slices.Contains(a.Parse, "roles"),
		onlyUsers:   a.Users,
		onlyRoles:   a.Roles,
		repliedUser: a.RepliedUser != nil && *a.RepliedUser,
	}
}

func (m *messageForm) nonce() string {
	switch n := m.Nonce.(type) {
	case string:
		return n
	case float64:
		return strconv.FormatInt(int64(n), 10)
	default:
		return ""
	}
}

// attach names and describes the uploaded files as the form's attachments say.
func (m *messageForm) attach(files []uploadedFile) []File {
	var out []File
	for _, f := range files {
		if m.Attachments != nil {
			for _, a := range *m.Attachments {
				if a.id() == f.index && f.index != "" {
					f.Description = a.Description
					if a.Filename != "" {
						f.Name = a.Filename
					}
				}
			}
		}
		out = append(out, f.File)
	}
	return out
}

// kept are the ids of old attachments that an edit keeps; nil for all of them.
func (m *messageForm) kept() *[]ID {
	if m.Attachments == nil {
		return nil
	}
	ids := []ID{}
	for _, a := range *m.Attachments {
		ids = append(ids, ID(a.id()))
	}
	return &ids
}

// empty reports whether nothing would be seen of the message.
func (m *messageForm) empty(files []uploadedFile) bool {
	return blank(m.content()) && len(files) == 0 && len(m.StickerIDs) == 0 &&
		(m.Embeds == nil || len(*m.Embeds) == 0) && (m.Components == nil || len(*m.Components) == 0)
}

func checkEmbeds(f *form, embeds []json.RawMessage) {
	if len(embeds) > 10 {
		f.badLength("embeds", 0, 10)
		return
	}
	total := 0
	for i, raw := range embeds {
		var e struct {
			Title, Description, URL string
			Footer, Author          struct {
				Text, Name, URL string
				IconURL         string `json:"icon_url"`
			}
			Image, Thumbnail struct{ URL string }
			Fields           []struct{ Name, Value string }
		}
		at := fmt.Sprintf("embeds.%d", i)
		if json.Unmarshal(raw, &e) != nil {
			f.add(at, "MODEL_TYPE_CONVERT", "Only dictionaries may be used in a ModelType")
			continue
		}
		limit := func(path, s string, most int) {
			n := len([]rune(s))
			total += n
			if n > most {
				f.tooLong(at+"."+path, most)
			}
		}
		for path, address := range map[string]string{"url": e.URL, "author.url": e.Author.URL} {
			checkURL(f, at+"."+path, address, webSchemes)
		}
		for path, address := range map[string]string{
			"image.url": e.Image.URL, "thumbnail.url": e.Thumbnail.URL, "author.icon_url": e.Author.IconURL, "footer.icon_url": e.Footer.IconURL,
		} {
			checkURL(f, at+"."+path, address, mediaSchemes)
		}
		limit("title", e.Title, 256)
		limit("description", e.Description, 4096)
		limit("footer.text", e.Footer.Text, 2048)
		limit("author.name", e.Author.Name, 256)
		if len(e.Fields) > 25 {
			f.badLength(at+".fields", 0, 25)
		}
		for j, field := range e.Fields {
			limit(fmt.Sprintf("fields.%d.name", j), field.Name, 256)
			limit(fmt.Sprintf("fields.%d.value", j), field.Value, 1024)
			if field.Name == "" {
				f.required(fmt.Sprintf("%s.fields.%d.name", at, j))
			}
			if field.Value == "" {
				f.required(fmt.Sprintf("%s.fields.%d.value", at, j))
			}
		}
	}
	if total > 6000 {
		f.add("embeds", "MAX_EMBED_SIZE_EXCEEDED", "Embed size exceeds maximum size of 6000")
	}
}
