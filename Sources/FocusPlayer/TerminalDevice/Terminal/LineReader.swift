internal import Foundation

/// Splits what a descriptor gives into lines. Blocks.
struct LineReader: IteratorProtocol {
    /// What is longer is no answer that anybody would type; it becomes several.
    private static let maximumLength = 4096

    private let descriptor: CInt
    private var pending: ArraySlice<UInt8> = []
    private var hasEnded = false

    init(descriptor: CInt) {
        self.descriptor = descriptor
    }

    /// - Returns: nil at the end of the input, and when it cannot be read.
    mutating func next() -> String? {
        while true {
            if let end = pending.firstIndex(of: UInt8(ascii: "\n")) {
                defer { pending = pending[(end + 1)...] }
                return String(decoding: pending[..<end], as: UTF8.self)
            }
            if hasEnded || pending.count >= Self.maximumLength {
                defer { pending = [] }
                return pending.isEmpty ? nil : String(decoding: pending, as: UTF8.self)
            }
            readMore()
        }
    }

    private mutating func readMore() {
        var buffer = [UInt8](repeating: 0, count: Self.maximumLength)
        let count = read(descriptor, &buffer, buffer.count)
        // A signal that another thread handles interrupts this call, too.
        if count < 0, errno == EINTR { return }
        if count > 0 { pending += buffer[..<count] } else { hasEnded = true }
    }
}
