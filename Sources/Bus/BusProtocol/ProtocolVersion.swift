/// What stands at the start of every request and reply.
package enum ProtocolVersion {
    /// "SG": so that a stray connection of another protocol is told apart.
    package static let magic: UInt16 = 0x5347
    /// Grows when a frame changes its meaning.
    package static let current: UInt8 = 1
}
