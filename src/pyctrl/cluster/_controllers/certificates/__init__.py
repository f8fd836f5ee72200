"""Controllers of CertificateSigningRequests: approval of kubelets' client certificates, signing, and cleaning."""
