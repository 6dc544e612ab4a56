import EventBus
import ZeroMQEventBus

/// A message that can be told from others of its type.
struct Counted: EventMessage {
    let number: Int
}

extension ZeroMQEventBus {
    func publish(numbers: Range<Int>, batch: Int = 100) async throws {
        for start in stride(from: numbers.lowerBound, to: numbers.upperBound, by: batch) {
            let end = min(start + batch, numbers.upperBound)
            try await publish(Batch((start..<end).map { try Envelope(Counted(number: $0), source: source) }))
        }
    }
}

extension MessageSequence {
    func numbers(_ count: Int) async throws -> [Int] {
        var numbers: [Int] = []
        for try await message in self {
            numbers.append(try message.decode(Counted.self).number)
            if numbers.count == count { break }
        }
        return numbers
    }
}
