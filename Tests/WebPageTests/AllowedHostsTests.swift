import HTTPOperations
import Testing

@Suite("Allowed hosts and origins")
struct AllowedHostsTests {
    @Test(
        "The gateway answers under its own names and port",
        arguments: [
            ("127.0.0.1:4000", true), ("localhost:4000", true), ("LOCALHOST:4000", true), ("[::1]:4000", true),
            ("127.0.0.1:4001", false), ("127.0.0.1", false), ("localhost", false), ("evil.example:4000", false),
            ("127.0.0.1.evil.example:4000", false), ("127.0.0.1:4000.evil.example", false), ("", false),
            (":4000", false), ("localhost:4000:4000", false), ("[::1]", false), ("127.0.0.1:04000", false),
        ])
    func own(host: String, isAllowed: Bool) {
        #expect(AllowedHosts().allows(host: host, port: 4000) == isAllowed)
    }

    @Test("A request without a host is refused")
    func missing() {
        #expect(!AllowedHosts().allows(host: nil, port: 4000))
    }

    @Test("A host without a port means port 80")
    func port80() {
        #expect(AllowedHosts().allows(host: "localhost", port: 80))
        #expect(AllowedHosts().allows(host: "localhost:80", port: 80))
        #expect(!AllowedHosts().allows(host: "evil.example", port: 80))
    }

    @Test(
        "The options --listen and --allow-host add names",
        arguments: [
            ("192.168.1.5:4000", true), ("192.168.1.6:4000", false), ("page.example:4000", true),
            ("page.example", true), ("page.example:443", true), ("other.example:8443", true),
            ("other.example", false), ("other.example:4000", false), ("sub.page.example", false),
        ])
    func added(host: String, isAllowed: Bool) {
        let hosts = AllowedHosts(listening: "192.168.1.5", allowed: ["Page.example", "other.example:8443"])
        #expect(hosts.allows(host: host, port: 4000) == isAllowed)
    }

    @Test("The wildcard address is not a name of the gateway")
    func wildcard() {
        #expect(!AllowedHosts(listening: "0.0.0.0").allows(host: "0.0.0.0:4000", port: 4000))
    }

    @Test(
        "Requests of other origins are refused",
        arguments: [
            (nil, true), ("http://127.0.0.1:4000", true), ("http://localhost:4000", true), ("null", false),
            ("", false), ("http://127.0.0.1:4001", false), ("http://evil.example", false),
            ("http://evil.example:4000", false), ("file://", false), ("http://localhost:4000@evil.example", false),
            ("ftp://localhost:4000", false),
        ] as [(String?, Bool)])
    func origins(origin: String?, isAllowed: Bool) {
        #expect(AllowedHosts().allows(origin: origin, port: 4000) == isAllowed)
    }
}
