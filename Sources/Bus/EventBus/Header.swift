internal import Foundation
internal import Support

/// A field of a header. ``all`` is the table from which headers are written, read and checked.
package final class HeaderField: Sendable {
    let name: StaticString
    private let content: Content
    /// True if a header without the field is invalid.
    let isRequired: Bool
    /// True if the field is a name, whose limits are those of ``Rules``.
    private let isName: Bool

    private enum Content: Sendable {
        /// The version of CloudEvents.
        case version
        case type
        /// A text, which is absent if it is nil.
        case text(@Sendable (Attributes) -> String?, set: @Sendable (inout Attributes, String) -> Void)
        /// A time, which is absent if it is nil.
        case time(@Sendable (Attributes) -> Date?, set: @Sendable (inout Attributes, Date) -> Void)
    }

    private init(_ name: StaticString, _ content: Content, isRequired: Bool = false, isName: Bool = false) {
        self.name = name
        self.content = content
        self.isRequired = isRequired
        self.isName = isName
    }

    /// An element for each field. The compiler compares its length with that of the table.
    typealias Elements<Element> = InlineArray<15, Element>

    private static let table: Elements<HeaderField> = [
        HeaderField("causationid", .text({ $0.causationID }, set: { $0.causationID = $1 })),
        HeaderField("correlationid", .text({ $0.correlationID }, set: { $0.correlationID = $1 })),
        HeaderField("device", .text({ $0.device }, set: { $0.device = $1 })),
        HeaderField("expirytime", .time({ $0.expiryTime }, set: { $0.expiryTime = $1 })),
        HeaderField("id", .text({ $0.id }, set: { $0.id = $1 }), isRequired: true),
        HeaderField("instance", .text({ $0.instance }, set: { $0.instance = $1 })),
        HeaderField("key", .text({ $0.key }, set: { $0.key = $1 }), isName: true),
        HeaderField("platform", .text({ $0.platform }, set: { $0.platform = $1 })),
        HeaderField("recipient", .text({ $0.recipient }, set: { $0.recipient = $1 })),
        HeaderField("source", .text({ $0.source }, set: { $0.source = $1 }), isRequired: true),
        HeaderField("specversion", .version, isRequired: true),
        HeaderField("subject", .text({ $0.subject }, set: { $0.subject = $1 }), isName: true),
        HeaderField("time", .time({ $0.time }, set: { $0.time = $1 })),
        HeaderField("traceparent", .text({ $0.traceparent }, set: { $0.traceparent = $1 })),
        HeaderField("type", .type, isRequired: true),
    ]

    /// All fields in the order of their names, which is their order in a header.
    package static let all = table.indices.map { table[$0] }

    static let correlation = index(of: "correlationid")
    static let subject = index(of: "subject")
    static let time = index(of: "time")
    static let type = index(of: "type")

    private static func index(of name: String) -> Int? { all.firstIndex { $0.isNamed(name) } }

    package func isNamed(_ name: String) -> Bool { "\(self.name)" == name }

    /// The text of the field. Nil if it is absent.
    package func text(in attributes: Attributes) -> String? {
        switch content {
        case .version: "1.0"
        case .type: attributes.type.description
        case .text(let text, _): text(attributes)
        case .time(let time, _): time(attributes).map(Timestamp.text(of:))
        }
    }

    /// Appends the text of the field as the content of a JSON string.
    /// - Parameter start: Appended before it.
    /// - Returns: False if the field is absent. Nothing is appended then.
    fileprivate func append(_ attributes: Attributes, to bytes: inout [UInt8], after start: StaticString) -> Bool {
        func begin() {
            bytes.append(start)
            bytes.append(name)
            bytes.append("\":\"")
        }
        switch content {
        case .version:
            begin()
            bytes.append("1.0")
        case .type:
            begin()
            bytes.append(escaping: attributes.type.kind.rawValue)
            bytes.append(".")
            bytes.append(escaping: attributes.type.name)
        case .text(let text, _):
            guard let text = text(attributes) else { return false }
            begin()
            bytes.append(escaping: text)
        case .time(let time, _):
            guard let time = time(attributes) else { return false }
            begin()
            withUnsafeTemporaryAllocation(byteCount: Timestamp.size, alignment: 1) { memory in
                Timestamp.write(time, to: memory)
                bytes.append(contentsOf: memory)
            }
        }
        return true
    }

    /// True if ``set(_:in:)`` sets the field to this text, which is UTF-8. The type is not checked.
    func admits(_ utf8: UnsafeBufferPointer<UInt8>) -> Bool {
        switch content {
        case .version: utf8.reads("1.0")
        case .type, .text: true
        case .time: Self.date(utf8) != nil
        }
    }

    private static func date(_ utf8: UnsafeBufferPointer<UInt8>) -> Date? {
        Timestamp.plainDate(utf8) ?? Timestamp.date(from: String(decoding: utf8, as: UTF8.self))
    }

    /// Sets the field to a text from a header.
    /// - Returns: What is wrong with the text. Nil if it was set.
    func set(_ utf8: UnsafeBufferPointer<UInt8>, in attributes: inout Attributes) -> String? {
        switch content {
        case .version: return utf8.reads("1.0") ? nil : "only version 1.0 of CloudEvents is supported"
        case .type:
            guard let type = MessageType(utf8: utf8) else {
                let text = String(decoding: utf8, as: UTF8.self)
                return "'\(text)' is not a message type; write kind.Name, such as command.PlaylistSelected"
            }
            attributes.type = type
        case .text(_, let set):
            guard let text = String(utf8: utf8) else { return "a string is not UTF-8" }
            set(&attributes, text)
        case .time(_, let set):
            guard let date = Self.date(utf8) else {
                let text = String(decoding: utf8, as: UTF8.self)
                return "'\(text)' is not a time; write one such as 2026-01-31T12:00:00Z"
            }
            set(&attributes, date)
        }
        return nil
    }

    /// - Throws: ``Mistake`` if the text or the time cannot be in a header. The limits of the type, the subject and the
    ///   key are others.
    func check(_ attributes: Attributes) throws(Mistake) {
        switch content {
        case .version, .type: return
        case .text(let text, _):
            guard !isName, let text = text(attributes), text.utf8.count > Limits.attributeLength else { return }
            throw Mistake(
                .tooLarge, "the attribute '\(name)' of \(attributes.type) exceeds \(Limits.attributeLength) bytes")
        case .time(let time, _):
            guard let date = time(attributes), !Timestamp.canHold(date) else { return }
            throw Mistake(
                .malformed, "the attribute '\(name)' of \(attributes.type) is not a time in the years 0000 to 9999")
        }
    }
}

/// The header of a message: its attributes as one flat JSON object of strings. The keys are sorted, so that equal
/// attributes have equal bytes.
extension Attributes {
    package var json: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(384)
        writeJSON(to: &bytes)
        return bytes
    }

    /// Appends ``json`` to `bytes`.
    package func writeJSON(to bytes: inout [UInt8]) {
        var separator: StaticString = "{\""
        for field in HeaderField.all {
            if field.append(self, to: &bytes, after: separator) { separator = "\",\"" }
        }
        bytes.append("\"}")
    }

    /// - Throws: `DecodingError` if `json` is not a JSON object, if an attribute is invalid, or if `id`, `source`,
    ///   `type` or CloudEvents version 1.0 is missing.
    package init(json: ArraySlice<UInt8>) throws {
        self =
            try json.withUnsafeBufferPointer { PlainHeader($0) }?.attributes
            ?? JSONReader.decode(Attributes.self, from: json)
    }

    /// - Parameter read: Reads the text of the field at an index of ``HeaderField/all``, and passes it to a function that
    ///   sets the field. Returns the result of the function; nil if the header does not have the field.
    init(_ read: (_ index: Int, _ set: (UnsafeBufferPointer<UInt8>) -> String?) throws -> String??) throws {
        self = .unknown
        var isCorrelated = false
        for index in HeaderField.all.indices {
            let field = HeaderField.all[index]
            guard let mistake = try read(index, { field.set($0, in: &self) }) else {
                if !field.isRequired { continue }
                let context = DecodingError.Context(codingPath: [], debugDescription: "the field is missing")
                throw DecodingError.keyNotFound(HeaderKey(field), context)
            }
            if let mistake {
                throw DecodingError.dataCorrupted(
                    DecodingError.Context(codingPath: [HeaderKey(field)], debugDescription: mistake))
            }
            if index == HeaderField.correlation { isCorrelated = true }
        }
        // A message without a cause begins its story.
        if !isCorrelated { correlationID = id }
    }

    /// Attributes before any is read.
    static var unknown: Attributes {
        let type = MessageType(kind: .event, name: "")
        return Attributes(id: "", source: "", type: type, subject: Session.default, time: Date(), correlationID: "")
    }
}

extension UnsafeBufferPointer<UInt8> {
    func reads(_ text: StaticString) -> Bool {
        count == text.utf8CodeUnitCount && baseAddress.map { memcmp($0, text.utf8Start, count) } == 0
    }
}

extension Attributes: Codable {
    private struct HeaderKey: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(_ field: HeaderField) { stringValue = "\(field.name)" }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    /// - Throws: `DecodingError` if an attribute is invalid, or if `id`, `source`, `type` or CloudEvents version 1.0 is
    ///   missing.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: HeaderKey.self)
        try self.init { index, set in
            var text = try container.decodeIfPresent(String.self, forKey: HeaderKey(HeaderField.all[index]))
            return text?.withUTF8(set)
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: HeaderKey.self)
        for field in HeaderField.all {
            try container.encodeIfPresent(field.text(in: self), forKey: HeaderKey(field))
        }
    }
}
