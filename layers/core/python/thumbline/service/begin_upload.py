"""Begin an upload: a signed form for one picture that is too large for a request's body."""

from __future__ import annotations

from dataclasses import dataclass

from thumbline.domain.uploads import FORM_SECONDS, Announcement, upload_id, upload_key
from thumbline.ports.clock import Clock, Ids
from thumbline.ports.uploads import UploadForm, UploadSigner


@dataclass(frozen=True, slots=True)
class BegunUpload:
    """`expires_at`: until then the form is taken, epoch milliseconds."""

    upload_id: str
    form: UploadForm
    expires_at: int


def begin_upload(
    announced: Announcement, owner: str, *, signer: UploadSigner, clock: Clock, ids: Ids
) -> BegunUpload:
    """Makes no call and stores nothing: a form that nobody uses leaves nothing behind."""
    begun = upload_id(ids.write_id())
    form = signer.sign_form(upload_key(owner, begun), announced, FORM_SECONDS)
    return BegunUpload(begun, form, clock.now() + FORM_SECONDS * 1000)
