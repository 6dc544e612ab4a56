package import Dispatch
internal import Foundation
package import Support
internal import TestSupport

/// An event of a stream.
package struct ServerEvent: Sendable {
    package fileprivate(set) var id: String?
    package fileprivate(set) var name = ""
    package fileprivate(set) var data: JSONValue = .null
}

/// A connection that reads Server-Sent Events, as a browser does.
package final class EventStream: Sendable {
    package struct Refused: Error {
        package let head: String
    }

    private let connection: RawConnection
    package let events: AsyncThrowingStream<ServerEvent, any Error>

    /// - Parameter gate: The events are read after this gate has been opened. Nil to read them at once.
    package init(
        port: Int, path: String, headers: [String: String], readingAfter gate: DispatchSemaphore? = nil
    ) throws {
        // With a small buffer, a server soon notices that nobody reads.
        let connection = try RawConnection(port: port, receiveBuffer: gate == nil ? nil : 4096)
        self.connection = connection
        let lines = headers.map { "\($0): \($1)\r\n" }.joined()
        connection.send("GET \(path) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n\(lines)\r\n")
        let (events, continuation) = AsyncThrowingStream.makeStream(of: ServerEvent.self)
        self.events = events
        Thread.detachNewThread {
            gate?.wait()
            var parser = EventParser()
            do {
                while case let bytes = connection.receive(), !bytes.isEmpty {
                    for event in try parser.receive(bytes) { continuation.yield(event) }
                }
                continuation.finish()
            } catch {
                continuation.finish(throwing: error)
            }
        }
    }

    /// The next event. Nil if the connection has ended.
    package func next() async throws -> ServerEvent? {
        try await events.first { _ in true }
    }

    /// Breaks the connection.
    package func close() {
        connection.shutdown()
    }
}

/// Reads a chunked response with events.
private struct EventParser {
    private var bytes: [UInt8] = []
    private var hasHead = false
    private var body: [UInt8] = []

    mutating func receive(_ new: [UInt8]) throws -> [ServerEvent] {
        bytes += new
        if !hasHead {
            guard let end = bytes.firstRange(of: Array("\r\n\r\n".utf8)) else { return [] }
            let head = String(decoding: bytes[..<end.lowerBound], as: UTF8.self)
            guard head.hasPrefix("HTTP/1.1 200") else { throw EventStream.Refused(head: head) }
            hasHead = true
            bytes.removeSubrange(..<end.upperBound)
        }
        while let line = bytes.firstRange(of: Array("\r\n".utf8)),
            let size = Int(String(decoding: bytes[..<line.lowerBound], as: UTF8.self), radix: 16),
            bytes.count >= line.upperBound + size + 2
        {
            body += bytes[line.upperBound..<(line.upperBound + size)]
            bytes.removeSubrange(..<(line.upperBound + size + 2))
        }
        var events: [ServerEvent] = []
        while let end = body.firstRange(of: Array("\n\n".utf8)) {
            let text = String(decoding: body[..<end.lowerBound], as: UTF8.self)
            body.removeSubrange(..<end.upperBound)
            if let event = try Self.event(text) { events.append(event) }
        }
        return events
    }

    private static func event(_ text: String) throws -> ServerEvent? {
        var event = ServerEvent()
        for line in text.split(separator: "\n") {
            if line.hasPrefix("id: ") { event.id = String(line.dropFirst(4)) }
            if line.hasPrefix("event: ") { event.name = String(line.dropFirst(7)) }
            if line.hasPrefix("data: ") { event.data = try JSONValue(parsing: Data(line.dropFirst(6).utf8)) }
        }
        return event.id == nil ? nil : event
    }
}
