import Foundation

/// The form of a JSON value in the Web API's OpenAPI description, as far as the simulator needs it.
indirect enum Shape: Sendable {
    case text, number, flag
    /// One of these strings.
    case choice(Set<String>)
    case list(Shape)
    /// An object with exactly these fields.
    case object([String: Shape])
    /// The value may be null.
    case nullable(Shape)
    /// The field may be absent.
    case optional(Shape)

    /// The differences between the value and this shape, each with the place in the value. Empty if there are none.
    func differences(_ value: JSONValue, at place: String = "answer") -> [String] {
        switch (self, value) {
        case (.text, .text), (.number, .number), (.flag, .flag), (.nullable, .null): return []
        case (.choice(let allowed), .text(let text)):
            return allowed.contains(text) ? [] : ["\(place): '\(text)' is not one of \(allowed.sorted())"]
        case (.list(let element), .list(let values)):
            return values.enumerated().flatMap { element.differences($1, at: "\(place)[\($0)]") }
        case (.object(let shapes), .object(let fields)):
            let unknown = fields.keys.filter { shapes[$0] == nil }.map { "\(place).\($0): unknown" }
            return unknown.sorted()
                + shapes.sorted { $0.key < $1.key }.flatMap { name, shape in
                    guard let value = fields[name] else {
                        if case .optional = shape { return [String]() }
                        return ["\(place).\(name): missing"]
                    }
                    return shape.differences(value, at: "\(place).\(name)")
                }
        case (.nullable(let shape), _), (.optional(let shape), _): return shape.differences(value, at: place)
        default: return ["\(place): \(value) is not \(self)"]
        }
    }

    /// This object with further fields. They replace fields of the same name.
    func adding(_ fields: [String: Shape]) -> Shape {
        guard case .object(let own) = self else { return self }
        return .object(own.merging(fields) { $1 })
    }
}

/// A JSON value as a client receives it.
enum JSONValue: Decodable, Equatable, Sendable {
    case null, flag(Bool), number(Int), text(String), list([JSONValue]), object([String: JSONValue])

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let flag = try? container.decode(Bool.self) {
            self = .flag(flag)
        } else if let number = try? container.decode(Int.self) {
            self = .number(number)
        } else if let text = try? container.decode(String.self) {
            self = .text(text)
        } else if let list = try? container.decode([JSONValue].self) {
            self = .list(list)
        } else {
            self = .object(try container.decode([String: JSONValue].self))
        }
    }

    /// The field of an object, or null.
    subscript(name: String) -> JSONValue {
        guard case .object(let fields) = self else { return .null }
        return fields[name] ?? .null
    }

    /// The elements of a list. Empty for another value.
    var elements: [JSONValue] {
        guard case .list(let elements) = self else { return [] }
        return elements
    }
}

/// The objects of the Web API. Of the deprecated fields, only `available_markets` is included, which the OpenAPI
/// description requires of albums, and `email` and `product` of the profile.
enum WebAPISchema {
    static let profile = identified("user").adding([
        "account_id": .text, "display_name": .text, "email": .optional(.text), "product": .optional(.text),
        "images": .list(image),
    ])
    static let playlist = identified("playlist").adding([
        "collaborative": .flag, "description": .text, "images": .list(image), "name": .text,
        "items": .object(["href": .text, "total": .number]), "owner": owner, "public": .flag, "snapshot_id": .text,
    ])
    static let playlistItem = Shape.object([
        "added_at": .text, "added_by": owner, "is_local": .flag, "item": track,
    ])
    static let track = identified("track").adding([
        "album": album, "artists": .list(artist), "available_markets": .list(.text), "disc_number": .number,
        "duration_ms": .number, "explicit": .flag, "external_ids": .object(["isrc": .text]), "is_local": .flag,
        "is_playable": .optional(.flag), "name": .text, "restrictions": .optional(.object(["reason": .text])),
        "track_number": .number,
    ])
    static let album = identified("album").adding([
        "album_type": .choice(["album", "single", "compilation"]), "artists": .list(artist),
        "available_markets": .list(.text), "images": .list(image), "name": .text, "release_date": .text,
        "release_date_precision": .choice(["year", "month", "day"]), "total_tracks": .number,
        "restrictions": .optional(.object(["reason": .text])),
    ])
    static let artist = identified("artist").adding(["name": .text])
    static let device = Shape.object([
        "id": .nullable(.text), "is_active": .flag, "is_private_session": .flag, "is_restricted": .flag,
        "name": .text, "type": .text, "volume_percent": .nullable(.number), "supports_volume": .flag,
    ])
    static let devices = Shape.object(["devices": .list(device)])
    static let playbackState = currentlyPlaying.adding([
        "device": device, "repeat_state": .choice(["off", "context", "track"]), "shuffle_state": .flag,
    ])
    static let currentlyPlaying = Shape.object([
        "actions": .object([
            "disallows": .object([
                "resuming": .optional(.flag), "pausing": .optional(.flag), "skipping_next": .optional(.flag),
                "skipping_prev": .optional(.flag),
            ])
        ]),
        "context": .nullable(.object(["external_urls": links, "href": .text, "type": .text, "uri": .text])),
        "currently_playing_type": .choice(["track", "unknown"]), "is_playing": .flag, "item": .nullable(track),
        "progress_ms": .nullable(.number), "timestamp": .number,
    ])
    static let error = Shape.object([
        "error": .object(["status": .number, "message": .text, "reason": .optional(.text)])
    ])

    static func page(_ item: Shape) -> Shape {
        .object([
            "href": .text, "items": .list(item), "limit": .number, "next": .nullable(.text), "offset": .number,
            "previous": .nullable(.text), "total": .number,
        ])
    }

    private static let owner = identified("user").adding(["display_name": .text])
    private static let links = Shape.object(["spotify": .text])
    private static let image = Shape.object(["url": .text, "height": .nullable(.number), "width": .nullable(.number)])

    /// The fields of all objects that have an id.
    private static func identified(_ type: String) -> Shape {
        .object([
            "external_urls": links, "href": .text, "id": .text, "type": .choice([type]),
            "uri": .text,
        ])
    }
}
