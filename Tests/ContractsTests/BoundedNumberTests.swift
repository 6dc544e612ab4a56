import Contracts
import EventBus
import Foundation
import HostileValues
import Support
import Testing

@Suite("Bounds of numbers in messages")
struct BoundedNumberTests {
    private struct Unbounded: CommandMessage {
        var count: Int
        var share: Double?
        @BoundedCount var position: UInt64
    }

    private struct Bounded: Codable, Equatable {
        @BoundedCount var count: UInt64
        @BoundedInteger var time: Int
    }

    @Test("Every number of the platform's messages is refused if it is too large")
    func platform() throws {
        #expect(try PlatformMessages.all.flatMap { try unboundedNumbers(of: $0) } == [])
    }

    @Test("A number without bounds is reported by its path")
    func found() throws {
        #expect(
            try unboundedNumbers(of: Unbounded.self) == [
                "command.Unbounded: count = 9223372036854775807", "command.Unbounded: count = -9223372036854775808",
                "command.Unbounded: share = 9223372036854775807", "command.Unbounded: share = -9223372036854775808",
                "command.Unbounded: share = 1e300", "command.Unbounded: share = -1e300",
            ])
    }

    @Test("The greatest and the least exact integers of JSON are read and written")
    func greatest() throws {
        for (count, time) in [(9_007_199_254_740_991, -9_007_199_254_740_991), (0, 9_007_199_254_740_991)] {
            let json = #"{"count":\#(count),"time":\#(time)}"#
            let value = try JSONDecoder().decode(Bounded.self, from: Data(json.utf8))
            #expect(value == Bounded(count: UInt64(count), time: time))
            #expect(try JSONValue(encoding: value) == ["count": .integer(count), "time": .integer(time)])
        }
    }

    @Test(
        "A number beyond the bounds is refused with its path and the bounds",
        arguments: [
            (
                #"{"count":9007199254740992,"time":0}"#, "count",
                "9007199254740992 is not between 0 and 9007199254740991"
            ),
            (#"{"count":18446744073709551615,"time":0}"#, "count", "18446744073709551615 is not between 0 and"),
            (
                #"{"count":1,"time":-9223372036854775808}"#, "time",
                "-9223372036854775808 is not between -9007199254740991 and 9007199254740991"
            ),
        ])
    func refused(json: String, path: String, reason: String) throws {
        let error = #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(Bounded.self, from: Data(json.utf8))
        }
        let summary = try #require(error?.summary)
        #expect(summary.hasPrefix("at \(path): \(reason)"))
    }
}
