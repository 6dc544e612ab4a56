import Foundation
import Testing

@testable import BusProtocol

/// The example of docs/wire-protocol.md, read as its text says: a line is a frame, lines indented further continue it, what
/// stands in quotes is sent as it is, and the rest is hexadecimal.
struct DocumentedExchange {
    /// The messages that follow, frame by frame, in the order of the page.
    private(set) var messages: ArraySlice<[[UInt8]]>

    private static let page = URL(fileURLWithPath: #filePath).appendingPathComponent("../../../docs/wire-protocol.md")
        .standardizedFileURL

    static func text() throws -> String { try String(contentsOf: page, encoding: .utf8) }

    init() throws {
        let example = try Self.text().components(separatedBy: "## An exchange in hexadecimal").last ?? ""
        messages = try example.split(separator: "\n").filter { $0.hasPrefix("    ") }.reduce(into: []) {
            messages, line in
            let bytes = try Self.bytes(line.drop { " →←".contains($0) })
            if !line.hasPrefix("      ") {
                messages.append([bytes])
            } else if let message = messages.indices.last {
                if line.hasPrefix("        ") {
                    messages[message][messages[message].count - 1] += bytes
                } else {
                    messages[message].append(bytes)
                }
            }
        }
    }

    /// Its frames; nil at the end.
    mutating func next() -> [[UInt8]]? { messages.popFirst() }

    mutating func expect(_ request: Request, id: UInt64) {
        let frames = next()
        #expect(frames == request.frames(id: id))
    }

    mutating func expect(_ reply: Reply, to operation: BusProtocol.Operation, id: UInt64) throws {
        let frames = next() ?? []
        #expect(frames == reply.frames(to: RequestHead(operation: operation, id: id)))
        let read = try Reply.read(frames)
        #expect(read.reply == reply)
    }

    /// A token that is neither, such as a mistyped digit.
    struct NotHexadecimal: Error {
        let token: Substring
    }

    private static func bytes(_ line: Substring) throws -> [UInt8] {
        try line.matches(of: #/'([^']*)'|"([^"]*)"|(\S+)/#).flatMap { match in
            let (_, json, text, token) = match.output
            if let quoted = json ?? text { return Array(quoted.utf8) }
            guard let token, token.count == 2, let byte = UInt8(token, radix: 16) else {
                throw NotHexadecimal(token: token ?? "")
            }
            return [byte]
        }
    }
}
