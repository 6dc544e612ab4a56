internal import BusProtocol
internal import Foundation

extension ProducerID {
    /// Nil unless the column holds an id.
    init?(stored: Data) {
        var reader = ByteReader(Array(stored))
        guard let id = try? ProducerID(&reader), reader.isAtEnd else { return nil }
        self = id
    }

    var stored: Data { withUnsafeBytes { Data($0) } }
}
