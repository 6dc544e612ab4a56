import EventBus
import Testing

@testable import NATSLayout

@Suite("Positions in the journal's stream")
struct StreamPositionTests {
    @Test("The positions of a batch are consecutive, and end at the same slot")
    func batches() throws {
        var last: UInt64 = 0
        for (sequence, count) in zip(UInt64(1)..., [1, 2, 1024, 1, 1023, 500]) {
            let places = try (0..<count).map {
                try #require(StreamPosition(sequence: sequence, index: $0, count: count))
            }
            for (index, place) in places.enumerated() {
                #expect(place.index(count: count) == index)
                #expect(StreamPosition(offset: place.offset) == place)
            }
            #expect(zip(places, places.dropFirst()).allSatisfy { $1.offset == $0.offset + 1 })
            #expect(try #require(places.first).offset > last)
            last = try #require(places.last).offset
            #expect(last == StreamPosition.end(of: sequence))
        }
        #expect(StreamPosition.end(of: 0) == 0)
        #expect(StreamPosition(sequence: 1, index: 0, count: 1024)?.offset == 1024)
    }

    @Test("Hostile numbers are refused, and no computation overflows")
    func hostile() {
        let numbers: [UInt64] = [0, 1, 1023, 1024, 1025, .max / 1024 - 1, .max / 1024, .max / 1024 + 1, .max - 1, .max]
        for number in numbers {
            for (index, count) in [(0, 0), (-1, 1), (1, 1), (0, 1025), (0, 1), (1023, 1024), (.max, .max), (.min, 1)] {
                if let place = StreamPosition(sequence: number, index: index, count: count) {
                    #expect(place.offset / 1024 == number && (1...1024).contains(count))
                }
            }
            #expect(StreamPosition.start(after: number) >= 1)
            #expect(StreamPosition.end(before: number) <= StreamPosition.end(of: number))
            for distance in [Int.min, -1, 0, 1, .max] {
                let moved = StreamPosition.offset(number, by: distance)
                #expect(distance == 0 ? moved == number : distance < 0 ? moved <= number : moved >= 1023)
            }
        }
    }

    @Test("A reader that begins after an offset misses no message after it")
    func start() {
        for offset in [0, 1, 1022, 1023, 1024, 5000, 10 * 1024 + 1023] as [UInt64] {
            let start = StreamPosition.start(after: offset)
            #expect(StreamPosition.end(before: start) <= offset)
            #expect(StreamPosition.end(of: start) > offset)
        }
    }

    @Test("A journal can be read in stretches, backwards and forwards")
    func stretches() {
        let end = StreamPosition.end(of: 5_000)
        for distance in [1, 256, 4_999] {
            var offset = end
            var steps = 0
            while offset > 0 {
                let next = StreamPosition.offset(offset, by: -distance)
                #expect(next < offset)
                (offset, steps) = (next, steps + 1)
            }
            #expect(steps <= 5_001)
            while offset < end {
                let next = StreamPosition.offset(offset, by: distance)
                #expect(next > offset)
                offset = next
            }
        }
        // With one message for each sequence, 256 messages are 256 sequences.
        #expect(StreamPosition.offset(end, by: -256) == StreamPosition.end(of: 4_744))
        #expect(StreamPosition.offset(end, by: .min) == 0)
        #expect(StreamPosition.offset(end, by: .max) > end)
    }
}
