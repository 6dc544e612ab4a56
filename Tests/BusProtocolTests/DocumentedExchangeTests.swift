import Foundation
import Testing

@testable import BusProtocol

@Suite("The exchange that docs/wire-protocol.md shows")
struct DocumentedExchangeTests {
    static let page = URL(fileURLWithPath: #filePath).appendingPathComponent("../../../docs/wire-protocol.md")
        .standardizedFileURL

    /// The frames of the page's examples: hexadecimal, a quoted text, or JSON.
    static func frames() throws -> [[UInt8]] {
        let text = try String(contentsOf: page, encoding: .utf8)
        let example = text.components(separatedBy: "## An exchange in hexadecimal").last ?? ""
        return example.split(separator: "\n").filter { $0.hasPrefix("    ") }.map { line in
            let line = line.drop { " →←".contains($0) }
            if line.hasPrefix("{") { return Array(line.utf8) }
            if line.hasPrefix("\"") { return Array(line.dropFirst().dropLast().utf8) }
            return line.split(separator: " ").compactMap { UInt8($0, radix: 16) }
        }
    }

    @Test("is what this code sends and understands")
    func exchange() throws {
        let frames = try Self.frames()
        #expect(frames.count == 14)
        var reader = ByteReader((0..<16).map { UInt8($0) })
        let producer = try ProducerID(&reader)
        #expect(Array(frames[0..<2]) == Request.hello(producer).frames(id: 1))
        let welcome = try Reply.read(Array(frames[2..<5]))
        #expect(welcome.reply == .welcome(Welcome(epoch: 0x2a, head: 7, sequence: 0)))
        let message = PublishedMessage(
            topic: "event.LaunchFinished.3e", subject: "default", key: "", header: frames[9], data: Array("{}".utf8))
        _ = try message.validated()
        let batch = PublishRequest(producer: producer, sequence: 1, messages: [message])
        #expect(Array(frames[5..<11]) == Request.publish(batch).frames(id: 2))
        #expect(try Reply.read(Array(frames[11..<14])).reply == .published(epoch: 0x2a, offset: 8))
    }
}
