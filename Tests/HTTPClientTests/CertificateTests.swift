import Foundation
import HTTPClient
import HTTPTypes
import TestSupport
import Testing

@Suite("HTTP client with certificates", .timeLimit(.minutes(1)))
struct CertificateTests {
    /// Runs OpenSSL's test server with a self-signed certificate for `localhost`.
    private func withServer(
        _ body: (_ port: Int, _ certificate: String) async throws -> Void
    ) async throws {
        let scratch = try ScratchFolder()
        defer { scratch.remove() }
        let (certificate, key) = (scratch.path("certificate.pem"), scratch.path("key.pem"))
        try await TestProgram(
            "openssl",
            [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout", key,
                "-out", certificate,
            ]
        ).output()
        try await TestProgram(
            "openssl", ["s_server", "-accept", "127.0.0.1:0", "-cert", certificate, "-key", key, "-www"]
        ).whileRunning { server in
            defer { server.kill() }
            // Its line is `ACCEPT 127.0.0.1:41234`.
            let line = try await server.waitUntilLine { $0.hasPrefix("ACCEPT ") }
            try await body(try #require(Int(line.split(separator: ":").last ?? "")), certificate)
        }
    }

    private func status(_ url: String, trusting authorities: String? = nil) async throws -> Int {
        try await HTTPClient.with(authorities: authorities) { client in
            try await client.send(HTTPClient.Request(.get, url), deadline: .seconds(30), maximumBody: 1 << 20)
        }.status.code
    }

    @Test("An answer over TLS is accepted only from a server with a trusted certificate for its name")
    func certificates() async throws {
        try await withServer { port, certificate in
            let status = try await status("https://localhost:\(port)/", trusting: certificate)
            #expect(status == 200)

            let untrusted = await #expect(throws: HTTPClient.Failure.self) {
                try await self.status("https://localhost:\(port)/")
            }
            #expect(untrusted?.code == .certificate)

            let misnamed = await #expect(throws: HTTPClient.Failure.self) {
                try await self.status("https://127.0.0.1:\(port)/", trusting: certificate)
            }
            #expect(misnamed?.code == .certificate)
        }
    }
}
