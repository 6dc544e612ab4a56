internal import BusFormat
internal import EventBus
internal import Foundation
internal import Support

/// The attributes and the data of a ``BenchmarkCommand`` from a view, read and written by functions that know the fields
/// and their order. No string has a character that JSON escapes.
struct HandWrittenCommand: Hashable {
    let correlationID: String
    let device: String
    let expiryTime: Date
    let id: String
    let instance: String
    let platform: String
    let source: String
    let subject: String
    let time: Date
    let traceparent: String

    let name: String
    let number: Int

    var header: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(512)
        bytes.append(#"{"correlationid":""#, correlationID)
        bytes.append(#"","device":""#, device)
        bytes.append(#"","expirytime":""#, expiryTime)
        bytes.append(#"","id":""#, id)
        bytes.append(#"","instance":""#, instance)
        bytes.append(#"","platform":""#, platform)
        bytes.append(#"","source":""#, source)
        bytes.append(#"","specversion":"1.0","subject":""#, subject)
        bytes.append(#"","time":""#, time)
        bytes.append(#"","traceparent":""#, traceparent)
        bytes.append(#"","type":"command.BenchmarkCommand"}"#, "")
        return bytes
    }

    var data: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(64)
        bytes.append(#"{"name":""#, name)
        bytes.append(#"","number":"#, String(number))
        bytes.append(UInt8(ascii: "}"))
        return bytes
    }
}

// In an extension, so that the struct keeps its memberwise initializer.
extension HandWrittenCommand {
    init(_ attributes: Attributes, _ command: BenchmarkCommand) {
        self.init(
            correlationID: attributes.correlationID, device: attributes.device ?? "",
            expiryTime: attributes.expiryTime ?? attributes.time, id: attributes.id,
            instance: attributes.instance ?? "", platform: attributes.platform ?? "", source: attributes.source,
            subject: attributes.subject, time: attributes.time, traceparent: attributes.traceparent ?? "",
            name: command.name, number: command.number)
    }

    /// Nil for any other header or data.
    init?(header: [UInt8], data: [UInt8]) {
        var header = Scanner(header[...])
        guard let correlationID = header.text(after: #"{"correlationid":""#),
            let device = header.text(after: #"","device":""#),
            let expiryTime = header.date(after: #"","expirytime":""#),
            let id = header.text(after: #"","id":""#),
            let instance = header.text(after: #"","instance":""#),
            let platform = header.text(after: #"","platform":""#),
            let source = header.text(after: #"","source":""#),
            let subject = header.text(after: #"","specversion":"1.0","subject":""#),
            let time = header.date(after: #"","time":""#),
            let traceparent = header.text(after: #"","traceparent":""#),
            header.consume(#"","type":"command.BenchmarkCommand"}"#)
        else { return nil }
        var data = Scanner(data[...])
        guard let name = data.text(after: #"{"name":""#), let number = data.number(after: #"","number":"#),
            data.consume("}")
        else { return nil }
        self.init(
            correlationID: correlationID, device: device, expiryTime: expiryTime, id: id, instance: instance,
            platform: platform, source: source, subject: subject, time: time, traceparent: traceparent, name: name,
            number: number)
    }
}

/// A received command of which nothing has been read.
struct UnreadCommand {
    let header: Bytes
    let data: Data

    init(header: Bytes, data: Bytes) {
        self.header = header
        self.data = Data(data)
    }
}

/// Reads strings, dates and numbers between known bytes.
private struct Scanner {
    private var rest: Bytes

    init(_ bytes: Bytes) {
        rest = bytes
    }

    /// - Returns: False if the next bytes are others.
    mutating func consume(_ text: StaticString) -> Bool {
        let count = text.utf8CodeUnitCount
        let isNext = rest.withUnsafeBytes { bytes in
            bytes.count >= count && bytes.baseAddress.map { memcmp($0, text.utf8Start, count) } == 0
        }
        if isNext { rest.removeFirst(count) }
        return isNext
    }

    mutating func text(after start: StaticString) -> String? {
        part(after: start) { $0 != UInt8(ascii: "\"") }.map { String(decoding: $0, as: UTF8.self) }
    }

    mutating func date(after start: StaticString) -> Date? {
        part(after: start) { $0 != UInt8(ascii: "\"") }?.withUnsafeBufferPointer(Timestamp.plainDate)
    }

    mutating func number(after start: StaticString) -> Int? {
        part(after: start) { 48...57 ~= $0 }?.reduce(0) { $0 * 10 + Int($1) - 48 }
    }

    private mutating func part(after start: StaticString, while isIncluded: (UInt8) -> Bool) -> Bytes? {
        guard consume(start) else { return nil }
        let part = rest.prefix(while: isIncluded)
        rest.removeFirst(part.count)
        return part
    }
}

extension [UInt8] {
    fileprivate mutating func append(_ start: StaticString, _ text: String) {
        append(start)
        append(contentsOf: text.utf8)
    }

    fileprivate mutating func append(_ start: StaticString, _ date: Date) {
        append(start, "")
        withUnsafeTemporaryAllocation(byteCount: Timestamp.size, alignment: 1) { memory in
            Timestamp.write(date, to: memory)
            append(contentsOf: memory)
        }
    }
}
