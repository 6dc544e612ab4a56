/// An entry of a playlist. The track stands in `item`; its older name `track` is deprecated.
struct PlaylistItemPayload: Encodable, Sendable {
    let addedAt = "2026-01-01T00:00:00Z"
    let addedBy: UserPayload
    let isLocal = false
    let item: TrackPayload
}
