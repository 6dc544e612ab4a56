import Foundation
import Glibc
import Testing

@testable import SystemSupport

@Suite("Core dumps")
struct CoreDumpTests {
    /// `PR_GET_DUMPABLE`.
    private static let getDumpable: CInt = 3

    @Test("A process without core dumps has the limit that the kernel obeys, and can read its files in /proc")
    func disable() throws {
        typealias Control = @convention(c) (CInt) -> CInt
        let control = unsafeBitCast(try #require(dlsym(nil, "prctl")), to: Control.self)
        try CoreDumps.disable()
        let pattern = try #require(FileManager.default.contents(atPath: "/proc/sys/kernel/core_pattern"))
        // Only for a socket is the flag necessary, with which the files in /proc belong to root.
        #expect(control(Self.getDumpable) == (pattern.first == UInt8(ascii: "@") ? 0 : 1))
        var limit = rlimit()
        #expect(getrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit) == 0)
        #expect(limit.rlim_cur == 1 && limit.rlim_max == 1)
        // The process itself still has its files in /proc.
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe").isEmpty == false)
        #expect(FileManager.default.contents(atPath: "/proc/self/environ")?.isEmpty == false)
    }
}
