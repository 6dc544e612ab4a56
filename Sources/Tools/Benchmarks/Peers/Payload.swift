internal import Foundation

/// The data of all benchmarks: 256 bytes of JSON, `{"number":100000042,"padding":"xxx…"}`.
enum Payload {
    static let size = 256
    /// Where numbers begin: they all have nine digits, so that all data is of the same size.
    static let firstNumber = 100_000_000
    static let messagesLimit = 100_000_000
    static let padding = String(repeating: "x", count: size - prefix.count - digits - #","padding":""}"#.utf8.count)

    private static let prefix = Array(#"{"number":"#.utf8)
    private static let digits = 9

    /// The number inside, read without a parser; 0 if there is none.
    static func number(in data: Data) -> Int {
        data.withUnsafeBytes { bytes in
            guard bytes.count > prefix.count + digits else { return 0 }
            return bytes[prefix.count..<prefix.count + digits].reduce(0) { $0 * 10 + Int($1) - 48 }
        }
    }

    /// Writes another number into data.
    static func write(_ number: Int, into data: inout [UInt8]) {
        var rest = number
        for index in (prefix.count..<prefix.count + digits).reversed() {
            data[index] = UInt8(48 + rest % 10)
            rest /= 10
        }
    }
}
