import Foundation
import Glibc
import Testing

@testable import SystemSupport

@Suite("Core dumps")
struct CoreDumpTests {
    /// `PR_GET_DUMPABLE`.
    private static let getDumpable: CInt = 3

    @Test("A process that has switched them off writes none, and its memory cannot be read by others")
    func disable() throws {
        typealias Control = @convention(c) (CInt) -> CInt
        let control = unsafeBitCast(try #require(dlsym(nil, "prctl")), to: Control.self)
        try CoreDumps.disable()
        #expect(control(Self.getDumpable) == 0)
        var limit = rlimit()
        #expect(getrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit) == 0)
        #expect(limit.rlim_cur == 0 && limit.rlim_max == 0)
        // The process itself still has its files in /proc.
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe").isEmpty == false)
        #expect(FileManager.default.contents(atPath: "/proc/self/environ")?.isEmpty == false)
    }
}
