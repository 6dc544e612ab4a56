import Foundation
import Support
import TestSupport
import Testing

@testable import Broker

@Suite("The audit log")
struct AuditLogTests {
    private func entry(_ count: Int) -> AuditLog.Entry {
        AuditLog.Entry(
            time: Date(timeIntervalSince1970: 0), event: .connectionRefused, count: count, address: "127.0.0.1",
            reason: "a\nb")
    }

    @Test("Each entry is one line of JSON in a file that only its owner can read")
    func lines() throws {
        let scratch = try ScratchFolder()
        defer { scratch.remove() }
        let log = AuditLog(path: scratch.path("audit.log"))
        for count in 1...2 { try log.append(entry(count)) }
        let lines = try String(contentsOfFile: log.path, encoding: .utf8).split(separator: "\n").map(String.init)
        let expected = #"{"address":"127.0.0.1","count":1,"event":"connection-refused","reason":"a\nb","#
        #expect(lines.count == 2)
        #expect(lines[0] == expected + #""time":"1970-01-01T00:00:00.000Z"}"#)
        let attributes = try FileManager.default.attributesOfItem(atPath: log.path)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
    }

    @Test("A full file replaces the one before, so both together stay below twice the limit")
    func rotation() throws {
        let scratch = try ScratchFolder()
        defer { scratch.remove() }
        let log = AuditLog(path: scratch.path("audit.log"), limit: 1000)
        for count in 1...100 { try log.append(entry(count)) }
        var counts: [Int] = []
        for path in [log.path + ".1", log.path] {
            let content = try Data(contentsOf: URL(fileURLWithPath: path))
            #expect(content.count <= 1000)
            counts += try content.split(separator: UInt8(ascii: "\n")).map {
                guard case .object(let fields) = try JSONValue(parsing: $0), case .integer(let count)? = fields["count"]
                else { throw CocoaError(.coderReadCorrupt) }
                return Int(count)
            }
        }
        #expect(counts.last == 100)
        #expect(counts == Array((counts.first ?? 0)...100))
        #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.path).count == 2)
    }
}
