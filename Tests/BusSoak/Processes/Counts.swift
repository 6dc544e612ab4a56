/// How many lines of each kind a process has written down.
package struct Counts: Hashable, Sendable {
    package var invoked = 0
    package var acknowledged = 0
    package var delivered = 0
    package var handled = 0
    package var live = 0

    /// - Parameter line: the first byte of a line: the kinds begin with different letters.
    mutating func count(_ line: UInt8) {
        switch line {
        case UInt8(ascii: "i"): invoked += 1
        case UInt8(ascii: "a"): acknowledged += 1
        case UInt8(ascii: "d"): delivered += 1
        case UInt8(ascii: "h"): handled += 1
        case UInt8(ascii: "l"): live += 1
        default: break
        }
    }
}
