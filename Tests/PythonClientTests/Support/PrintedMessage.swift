import Foundation

/// A message as `bus.py` prints it.
struct PrintedMessage: Decodable {
    let offset: UInt64
    let type: String
    let subject: String
    let data: Number?

    init(_ line: String) throws {
        self = try JSONDecoder().decode(Self.self, from: Data(line.utf8))
    }
}
