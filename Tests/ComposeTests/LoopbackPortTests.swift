import Compose
import Glibc
import Testing

@Suite("Loopback ports")
struct LoopbackPortTests {
    @Test
    func `No other process gets a reserved port, but a server that sets SO_REUSEADDR can listen on it repeatedly`()
        throws
    {
        let port = try LoopbackPort(for: "test")
        withExtendedLifetime(port) {
            #expect(!listens(at: port.number, reusing: false))
            for _ in 0..<2 { #expect(listens(at: port.number, reusing: true)) }
            #expect(!listens(at: port.number, reusing: false))
        }
    }

    @Test func `All names get different ports`() throws {
        let ports = try LoopbackPort.pick(for: (0..<100).map(String.init))
        #expect(Set(ports.values).count == 100)
    }

    /// Listens at a port and stops.
    private func listens(at port: Int, reusing: Bool) -> Bool {
        let descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue) | O_CLOEXEC, 0)
        defer { close(descriptor) }
        var reuse: CInt = reusing ? 1 : 0
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &reuse, socklen_t(MemoryLayout<CInt>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        } && listen(descriptor, 1) == 0
    }
}
