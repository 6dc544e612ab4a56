import Foundation
import Testing

@testable import EventBus

@Suite("Positions from outside")
struct PositionTests {
    @Test("An offset up to the greatest is read, and a larger one is refused")
    func offsets() throws {
        let greatest = Position.greatestOffset
        for (offset, isRead) in [(0, true), (greatest, true), (greatest + 1, false), (.max, false)] as [(UInt64, Bool)]
        {
            let json = Data(#"{"epoch":18446744073709551615,"offset":\#(offset)}"#.utf8)
            let position = try? JSONDecoder().decode(Position.self, from: json)
            #expect(position == (isRead ? Position(epoch: .max, offset: offset) : nil))
            #expect(Position.offset("\(offset)") == (isRead ? offset : nil))
        }
        for text in ["-1", "", "1.5", "18446744073709551616"] { #expect(Position.offset(text) == nil) }
    }
}
