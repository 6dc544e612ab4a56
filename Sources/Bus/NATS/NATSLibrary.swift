internal import CNATS
internal import Glibc

/// libnats, which has threads of its own from its first use to the end of the process.
enum NATSLibrary {
    /// Initializes libnats, unless that has happened.
    ///
    /// Making a connection does so, too. But a message may be made and destroyed before the first connection, and libnats
    /// would have no lock for that.
    /// - Throws: ``NATSError`` `invalid` if that fails.
    static func open() throws(NATSError) {
        guard isOpen else { throw NATSError(.invalid, "libnats cannot be initialized") }
    }

    private static let isOpen: Bool = {
        keepOpenSSL()
        return nats_Open(-1) == NATS_OK
    }()

    /// Lets OpenSSL keep its locks when the process exits. Otherwise it frees them while a thread of libnats that ends
    /// at the same time still uses them, and the process ends with SIGSEGV instead of its status.
    ///
    /// Has no effect if another library has initialized OpenSSL before.
    private static func keepOpenSSL() {
        // The function is looked up, because the program is linked with libnats and not with OpenSSL.
        guard let symbol = dlsym(nil, "OPENSSL_init_crypto") else { return }
        typealias Initialize = @convention(c) (_ options: UInt64, _ settings: OpaquePointer?) -> Int32
        let withoutExitHandler: UInt64 = 0x0008_0000
        _ = unsafeBitCast(symbol, to: Initialize.self)(withoutExitHandler, nil)
    }
}
