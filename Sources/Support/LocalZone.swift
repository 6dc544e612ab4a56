package import Foundation

/// A time zone, as the offset from UTC at each instant.
package struct LocalZone: Sendable {
    /// The offset in seconds at an instant in seconds since 1970; positive east of Greenwich.
    private let offset: @Sendable (Int64) -> Int64

    package init(offset: @escaping @Sendable (Int64) -> Int64) {
        self.offset = offset
    }

    /// The zone of this process. The C library reads `TZ`, in every form that date(1) knows; Foundation knows only names.
    package static let current = LocalZone { seconds in
        var (seconds, fields) = (time_t(seconds), tm())
        return localtime_r(&seconds, &fields) == nil ? 0 : Int64(fields.tm_gmtoff)
    }

    package static let utc = LocalZone { _ in 0 }

    /// The offset at an instant in milliseconds since 1970.
    func offset(atMilliseconds time: Int64) -> Int64 {
        offset(time.flooredQuotientAndRemainder(by: 1000).0)
    }

    /// The instant at which clocks in the zone show `local`, which is written as if it were UTC. If they show it twice,
    /// the first instant. If they never show it because they are set forward, it is shifted as much as they are.
    package func date(atLocal local: Date) -> Date {
        let (seconds, rest) = local.milliseconds.flooredQuotientAndRemainder(by: 1000)
        // Between the two offsets is at most one change of the clocks.
        let offsets = [offset(seconds - 86_400), offset(seconds + 86_400)]
        let valid = offsets.first { offset(seconds - $0) == $0 } ?? offsets[0]
        return Date(milliseconds: (seconds - valid) * 1000 + rest)
    }
}

extension Int64 {
    /// The quotient, rounded down, and the remainder, which is not negative for a positive divisor.
    func flooredQuotientAndRemainder(by divisor: Int64) -> (Int64, Int64) {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}
