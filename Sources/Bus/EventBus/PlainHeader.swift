internal import Foundation
internal import Support

/// A header in the plain form: a flat JSON object of strings without escapes, in one line. It is checked when it
/// arrives; its attributes are read when they are asked for.
struct PlainHeader: Sendable {
    private let bytes: [UInt8]
    private let places: HeaderReader.Places
    let type: MessageType

    /// Nil if the header is in another form, if a required attribute is missing, if an attribute is invalid, or if there
    /// is no time: such a message has the time at which it arrived.
    init?(_ utf8: UnsafeBufferPointer<UInt8>) {
        guard var reader = HeaderReader(utf8), let places = reader.places() else { return nil }
        for (index, field) in HeaderField.all.enumerated() {
            if let place = places[index] {
                guard field.admits(utf8.text(at: place)) else { return nil }
            } else if field.isRequired || index == HeaderField.time {
                return nil
            }
        }
        guard let place = HeaderField.type.flatMap({ places[$0] }), let type = MessageType(utf8: utf8.text(at: place))
        else { return nil }
        (bytes, self.places, self.type) = (Array(utf8), places, type)
    }

    /// The partition of the subject.
    var partition: Partition {
        guard let place = HeaderField.subject.flatMap({ places[$0] }) else {
            return Partition(subject: Session.default)
        }
        return bytes.withUnsafeBufferPointer { Partition(subject: UnsafeRawBufferPointer($0.text(at: place))) }
    }

    var attributes: Attributes {
        bytes.withUnsafeBufferPointer { bytes in
            let attributes = try? Attributes { index, set in places[index].map { set(bytes.text(at: $0)) } }
            // Every attribute has been checked, so it can be read.
            return attributes ?? .unknown
        }
    }
}

/// Reads a flat JSON object of strings without escapes, in one line. Does not read any other JSON.
struct HeaderReader {
    private let bytes: UnsafeBufferPointer<UInt8>
    private var index = 0

    /// Nil if the bytes are not UTF-8, or have backslashes or control characters.
    init?(_ bytes: UnsafeBufferPointer<UInt8>) {
        guard let start = bytes.baseAddress, UInt32(exactly: bytes.count) != nil,
            memchr(start, Int32(UInt8(ascii: "\\")), bytes.count) == nil
        else {
            return nil
        }
        // Without an exit in the middle, the compiler compares many bytes at once.
        var (lowest, union) = (UInt8.max, UInt8.zero)
        for byte in bytes {
            lowest = min(lowest, byte)
            union |= byte
        }
        guard lowest >= 0x20, union < 0x80 || String(validating: bytes, as: UTF8.self) != nil else { return nil }
        self.bytes = bytes
    }

    /// A text among the bytes.
    struct Place {
        let start: UInt32
        let count: UInt32
    }

    /// The texts of the fields in the order of ``HeaderField/all``. Nil for a field that the header does not have.
    typealias Places = HeaderField.Elements<Place?>

    /// Reads the object. Unknown attributes are ignored. If an attribute occurs twice, the first one counts.
    /// - Returns: Nil if the bytes are anything else.
    mutating func places() -> Places? {
        guard consume(UInt8(ascii: "{")) else { return nil }
        let fields = HeaderField.all
        var places = Places(repeating: nil)
        var expected = 0
        while let key = text(), consume(UInt8(ascii: ":")), let value = text() {
            let name = bytes.text(at: key)
            // The members are usually in the order of the table.
            for step in fields.indices {
                let index = (expected + step) % fields.count
                guard name.reads(fields[index].name) else { continue }
                if places[index] == nil { places[index] = value }
                expected = index + 1
                break
            }
            if consume(UInt8(ascii: ",")) { continue }
            guard consume(UInt8(ascii: "}")) else { return nil }
            skipSpace()
            return self.index == bytes.count ? places : nil
        }
        return nil
    }

    private mutating func consume(_ byte: UInt8) -> Bool {
        skipSpace()
        guard index < bytes.count, bytes[index] == byte else { return false }
        index += 1
        return true
    }

    private mutating func text() -> Place? {
        guard consume(UInt8(ascii: "\"")), let start = bytes.baseAddress.map({ $0 + index }),
            let end = memchr(start, Int32(UInt8(ascii: "\"")), bytes.count - index)
        else { return nil }
        let count = UnsafeRawPointer(end) - UnsafeRawPointer(start)
        defer { index += count + 1 }
        return Place(start: UInt32(index), count: UInt32(count))
    }

    private mutating func skipSpace() {
        while index < bytes.count, bytes[index] == UInt8(ascii: " ") { index += 1 }
    }
}

extension UnsafeBufferPointer<UInt8> {
    fileprivate func text(at place: HeaderReader.Place) -> UnsafeBufferPointer<UInt8> {
        UnsafeBufferPointer(rebasing: self[Int(place.start)..<Int(place.start) + Int(place.count)])
    }
}
