internal import Foundation
internal import Support

/// The header of a message: its attributes as one flat JSON object of strings. The keys are sorted, so that equal
/// attributes have equal bytes.
///
/// This code reads headers in the plain form, that is without escapes. Foundation decodes all other headers.
extension Attributes {
    package var json: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(384)
        writeJSON(to: &bytes)
        return bytes
    }

    /// Appends ``json`` to `bytes`.
    package func writeJSON(to bytes: inout [UInt8]) {
        bytes.appendHeader { writeJSON(in: $0) }
    }

    /// Writes ``json`` at the beginning of `memory`, if it fits.
    /// - Returns: The size of ``json`` in bytes.
    func writeJSON(in memory: UnsafeMutableRawBufferPointer) -> Int {
        var writer = HeaderWriter(memory)
        writer.write("causationid", causationID)
        writer.write("correlationid", correlationID)
        writer.write("device", device)
        writer.write("expirytime", expiryTime)
        writer.write("id", id)
        writer.write("instance", instance)
        writer.write("key", key)
        writer.write("platform", platform)
        writer.write("recipient", recipient)
        writer.write("source", source)
        writer.write("specversion", "1.0")
        writer.write("subject", subject)
        writer.write("time", time)
        writer.write("traceparent", traceparent)
        writer.write("type", type)
        return writer.finish()
    }

    /// - Throws: `DecodingError` if `json` is not a JSON object, if an attribute is invalid, or if `id`, `source`,
    ///   `type` or CloudEvents version 1.0 is missing.
    package init(json: ArraySlice<UInt8>) throws {
        let plain = json.withUnsafeBufferPointer { Attributes.plain($0) }
        self = try plain ?? JSONReader.decode(Attributes.self, from: json)
    }

    /// Reads a header in the plain form: a flat object of strings without escapes. Nil if it is in another form, if a
    /// required attribute or the time is missing, or if an attribute is invalid.
    static func plain(_ bytes: UnsafeBufferPointer<UInt8>) -> Attributes? {
        guard var reader = HeaderReader(bytes) else { return nil }
        var fields = HeaderFields(isASCII: reader.isASCII)
        guard reader.readObject({ fields.set($0, to: $1) }) else { return nil }
        return fields.attributes()
    }
}

extension [UInt8] {
    /// The size of memory that is on the stack and has room for almost every header.
    private static let usualCapacity = 1024

    /// Appends a header.
    /// - Parameter write: Writes the header at the beginning of the memory, if it fits, and returns its size. Is called
    ///   again if the memory was too small.
    mutating func appendHeader(_ write: (UnsafeMutableRawBufferPointer) -> Int) {
        let size = append(upTo: Self.usualCapacity, write)
        if size > Self.usualCapacity { _ = append(upTo: size, write) }
    }

    private mutating func append(upTo capacity: Int, _ write: (UnsafeMutableRawBufferPointer) -> Int) -> Int {
        withUnsafeTemporaryAllocation(byteCount: capacity, alignment: 1) { memory in
            let size = write(memory)
            if size <= capacity { append(contentsOf: UnsafeRawBufferPointer(rebasing: memory[..<size])) }
            return size
        }
    }
}

/// Writes a flat JSON object of strings into memory, and counts its bytes also if they do not fit.
struct HeaderWriter {
    private let memory: UnsafeMutableRawBufferPointer
    private var count = 0

    init(_ memory: UnsafeMutableRawBufferPointer) {
        self.memory = memory
    }

    /// Ends the object.
    /// - Returns: Its size in bytes. If this is more than the memory has, the content of the memory is of no use.
    mutating func finish() -> Int {
        append("}")
        return count
    }

    /// Writes a field, or nothing if `text` is nil.
    mutating func write(_ key: StaticString, _ text: String?) {
        guard let text else { return }
        begin(key)
        append(escaping: text)
        append("\"")
    }

    /// Writes a time, or nothing if `date` is nil.
    mutating func write(_ key: StaticString, _ date: Date?) {
        guard let date else { return }
        begin(key)
        append(count: Timestamp.size) { Timestamp.write(date, to: $0) }
        append("\"")
    }

    mutating func write(_ key: StaticString, _ type: MessageType) {
        begin(key)
        append(escaping: type.kind.rawValue)
        append(".")
        append(escaping: type.name)
        append("\"")
    }

    private mutating func begin(_ key: StaticString) {
        append(count == 0 ? "{\"" : ",\"")
        append(key)
        append("\":\"")
    }

    private mutating func append(_ text: StaticString) {
        append(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    private mutating func append(escaping text: String) {
        var text = text
        text.withUTF8 { utf8 in
            // Without branches, the compiler compares many bytes at once.
            var special: UInt8 = 0
            for byte in utf8 { special |= Self.isSpecial(byte) }
            if special == 0 { return append(UnsafeRawBufferPointer(utf8)) }
            for byte in utf8 {
                let written = Self.isSpecial(byte) == 1 ? Self.escaped(byte) : [byte]
                written.withUnsafeBytes { append($0) }
            }
        }
    }

    private mutating func append(_ bytes: UnsafeRawBufferPointer) {
        append(count: bytes.count) { $0.copyMemory(from: bytes) }
    }

    /// Counts bytes, and lets `write` write them if there is room.
    private mutating func append(count: Int, _ write: (UnsafeMutableRawBufferPointer) -> Void) {
        if self.count + count <= memory.count {
            write(UnsafeMutableRawBufferPointer(rebasing: memory[self.count..<self.count + count]))
        }
        self.count += count
    }

    /// 1 if JSON does not allow the byte unescaped in a string, otherwise 0: RFC 8259, section 7.
    private static func isSpecial(_ byte: UInt8) -> UInt8 {
        (byte < 0x20 ? 1 : 0) | (byte == UInt8(ascii: "\"") ? 1 : 0) | (byte == UInt8(ascii: "\\") ? 1 : 0)
    }

    private static func escaped(_ byte: UInt8) -> [UInt8] {
        switch byte {
        case UInt8(ascii: "\""): Array("\\\"".utf8)
        case UInt8(ascii: "\\"): Array("\\\\".utf8)
        case 0x08: Array("\\b".utf8)
        case 0x09: Array("\\t".utf8)
        case 0x0a: Array("\\n".utf8)
        case 0x0c: Array("\\f".utf8)
        case 0x0d: Array("\\r".utf8)
        default: Array(("\\u00" + (byte < 16 ? "0" : "") + String(byte, radix: 16)).utf8)
        }
    }
}

/// Reads a flat JSON object of strings without escapes, in one line. Does not read any other JSON.
struct HeaderReader {
    private let bytes: UnsafeBufferPointer<UInt8>
    private var index = 0
    /// True if all strings are ASCII.
    let isASCII: Bool

    /// Nil if the bytes have backslashes or control characters, so that no string can.
    init?(_ bytes: UnsafeBufferPointer<UInt8>) {
        guard let start = bytes.baseAddress, memchr(start, Int32(UInt8(ascii: "\\")), bytes.count) == nil else {
            return nil
        }
        // Without an exit in the middle, the compiler compares many bytes at once.
        var (lowest, union) = (UInt8.max, UInt8.zero)
        for byte in bytes {
            lowest = min(lowest, byte)
            union |= byte
        }
        guard lowest >= 0x20 else { return nil }
        self.bytes = bytes
        isASCII = union < 0x80
    }

    typealias Text = UnsafeBufferPointer<UInt8>

    /// Reads the object.
    /// - Parameter field: Called with each key and its string.
    /// - Returns: False if the bytes are anything else.
    mutating func readObject(_ field: (Text, Text) -> Void) -> Bool {
        guard consume(UInt8(ascii: "{")) else { return false }
        while let key = text(), consume(UInt8(ascii: ":")), let value = text() {
            field(key, value)
            if consume(UInt8(ascii: ",")) { continue }
            guard consume(UInt8(ascii: "}")) else { return false }
            skipSpace()
            return index == bytes.count
        }
        return false
    }

    private mutating func consume(_ byte: UInt8) -> Bool {
        skipSpace()
        guard index < bytes.count, bytes[index] == byte else { return false }
        index += 1
        return true
    }

    private mutating func text() -> Text? {
        guard consume(UInt8(ascii: "\"")), let start = bytes.baseAddress.map({ $0 + index }),
            let end = memchr(start, Int32(UInt8(ascii: "\"")), bytes.count - index)
        else { return nil }
        let text = Text(start: start, count: UnsafeRawPointer(end) - UnsafeRawPointer(start))
        index += text.count + 1
        return text
    }

    private mutating func skipSpace() {
        while index < bytes.count, bytes[index] == UInt8(ascii: " ") { index += 1 }
    }
}

/// The fields of a header in the plain form, as pointers to its bytes. Strings are created only when the whole header
/// has been read.
struct HeaderFields {
    /// True if all values are ASCII.
    private let isASCII: Bool
    private var id: Text?
    private var source: Text?
    private var specVersion: Text?
    private var type: Text?
    private var subject: Text?
    private var time: Text?
    private var correlationID: Text?
    private var causationID: Text?
    private var traceparent: Text?
    private var expiryTime: Text?
    private var platform: Text?
    private var device: Text?
    private var instance: Text?
    private var key: Text?
    private var recipient: Text?

    typealias Text = UnsafeBufferPointer<UInt8>

    init(isASCII: Bool) {
        self.isASCII = isASCII
    }

    /// Sets a field. Unknown attributes are ignored. If an attribute occurs twice, the first one counts.
    mutating func set(_ name: Text, to value: Text) {
        switch name.count {
        case 2 where name.reads("id"): id = id ?? value
        case 3 where name.reads("key"): key = key ?? value
        case 4 where name.reads("time"): time = time ?? value
        case 4 where name.reads("type"): type = type ?? value
        case 6 where name.reads("source"): source = source ?? value
        case 6 where name.reads("device"): device = device ?? value
        case 7 where name.reads("subject"): subject = subject ?? value
        case 8 where name.reads("platform"): platform = platform ?? value
        case 8 where name.reads("instance"): instance = instance ?? value
        case 9 where name.reads("recipient"): recipient = recipient ?? value
        case 10 where name.reads("expirytime"): expiryTime = expiryTime ?? value
        case 11 where name.reads("causationid"): causationID = causationID ?? value
        case 11 where name.reads("specversion"): specVersion = specVersion ?? value
        case 11 where name.reads("traceparent"): traceparent = traceparent ?? value
        case 13 where name.reads("correlationid"): correlationID = correlationID ?? value
        default: break
        }
    }

    /// The attributes; nil if a required field is missing or a value is invalid.
    func attributes() -> Attributes? {
        do {
            guard specVersion?.reads("1.0") == true, let id = try string(id), let source = try string(source),
                let type = type.flatMap(MessageType.init(utf8:)), let time = try date(time)
            else { return nil }
            // The id and the correlation id of a message without a cause are equal.
            let isFirst = correlationID?.reads(self.id) ?? true
            return Attributes(
                id: id, source: source, type: type, subject: try string(subject) ?? Session.default, time: time,
                correlationID: isFirst ? id : try string(correlationID) ?? id, causationID: try string(causationID),
                traceparent: try string(traceparent), expiryTime: try date(expiryTime), platform: try string(platform),
                device: try string(device), instance: try string(instance), key: try string(key),
                recipient: try string(recipient))
        } catch {
            return nil
        }
    }

    private struct NotPlain: Error {}

    private func string(_ text: Text?) throws(NotPlain) -> String? {
        guard let text else { return nil }
        if isASCII { return String(decoding: text, as: UTF8.self) }
        guard let string = String(validating: text, as: UTF8.self) else { throw NotPlain() }
        return string
    }

    private func date(_ text: Text?) throws(NotPlain) -> Date? {
        guard let text else { return nil }
        guard let date = Timestamp.plainDate(text) else { throw NotPlain() }
        return date
    }
}

extension UnsafeBufferPointer<UInt8> {
    func reads(_ text: StaticString) -> Bool {
        count == text.utf8CodeUnitCount && baseAddress.map { memcmp($0, text.utf8Start, count) } == 0
    }

    fileprivate func reads(_ other: UnsafeBufferPointer<UInt8>?) -> Bool {
        guard let other, count == other.count, let start = baseAddress, let otherStart = other.baseAddress else {
            return false
        }
        return memcmp(start, otherStart, count) == 0
    }
}

extension Attributes: Codable {
    enum CodingKeys: String, CodingKey {
        case specVersion = "specversion"
        case id, source, type, subject, time
        case correlationID = "correlationid"
        case causationID = "causationid"
        case traceparent
        case expiryTime = "expirytime"
        case platform, device, instance, key, recipient
    }

    /// - Throws: `DecodingError` if an attribute is invalid, or if `id`, `source`, `type` or CloudEvents version 1.0 is
    ///   missing.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        guard try container.decode(String.self, forKey: .specVersion) == "1.0" else {
            throw DecodingError.dataCorruptedError(
                forKey: .specVersion, in: container, debugDescription: "only version 1.0 of CloudEvents is supported")
        }
        let id = try container.decode(String.self, forKey: .id)
        self.init(
            id: id, source: try container.decode(String.self, forKey: .source),
            type: try container.decode(MessageType.self, forKey: .type),
            subject: try container.decodeIfPresent(String.self, forKey: .subject) ?? Session.default,
            time: try container.timestamp(.time) ?? Date(),
            correlationID: try container.decodeIfPresent(String.self, forKey: .correlationID) ?? id,
            causationID: try container.decodeIfPresent(String.self, forKey: .causationID),
            traceparent: try container.decodeIfPresent(String.self, forKey: .traceparent),
            expiryTime: try container.timestamp(.expiryTime),
            platform: try container.decodeIfPresent(String.self, forKey: .platform),
            device: try container.decodeIfPresent(String.self, forKey: .device),
            instance: try container.decodeIfPresent(String.self, forKey: .instance),
            key: try container.decodeIfPresent(String.self, forKey: .key),
            recipient: try container.decodeIfPresent(String.self, forKey: .recipient))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode("1.0", forKey: .specVersion)
        try container.encode(id, forKey: .id)
        try container.encode(source, forKey: .source)
        try container.encode(type, forKey: .type)
        try container.encode(subject, forKey: .subject)
        try container.encode(Timestamp.text(of: time), forKey: .time)
        try container.encode(correlationID, forKey: .correlationID)
        try container.encodeIfPresent(causationID, forKey: .causationID)
        try container.encodeIfPresent(traceparent, forKey: .traceparent)
        try container.encodeIfPresent(expiryTime.map(Timestamp.text(of:)), forKey: .expiryTime)
        try container.encodeIfPresent(platform, forKey: .platform)
        try container.encodeIfPresent(device, forKey: .device)
        try container.encodeIfPresent(instance, forKey: .instance)
        try container.encodeIfPresent(key, forKey: .key)
        try container.encodeIfPresent(recipient, forKey: .recipient)
    }
}

extension KeyedDecodingContainer<Attributes.CodingKeys> {
    fileprivate func timestamp(_ key: Key) throws -> Date? {
        guard let text = try decodeIfPresent(String.self, forKey: key) else { return nil }
        guard let date = Timestamp.date(from: text) else {
            throw DecodingError.dataCorruptedError(
                forKey: key, in: self,
                debugDescription: "'\(text)' is not a time; write one such as 2026-01-31T12:00:00Z")
        }
        return date
    }
}
