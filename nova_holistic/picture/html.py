# SPDX-License-Identifier: Apache-2.0
"""The picture as an HTML page without external resources."""

from xml.etree.ElementTree import Element, SubElement, tostring

from nova_holistic.picture.scene import Scene
from nova_holistic.picture import svg
from nova_holistic.picture.text_fitting import printable

# The page is both XML and HTML: neither text may contain a character that XML
# would escape.
_STYLE = '''
:root { color-scheme: light dark; }
body { margin: 0; background: #ffffff; }
svg { display: block; margin: 0 auto; max-width: 100%; height: auto; }
.host:hover .edge { stroke: #0072b2; stroke-width: 2; }
#words { position: fixed; visibility: hidden; pointer-events: none;
  white-space: pre-line; padding: 8px 11px; border-radius: 6px;
  max-width: 32em; overflow-wrap: anywhere; background: #0f172a;
  color: #f8fafc; font: 13px/1.45 system-ui, sans-serif;
  box-shadow: 0 4px 14px rgba(0, 0, 0, 0.35); }
@media (prefers-color-scheme: dark) {
  body { background: #0b1220; }
  #words { background: #e2e8f0; color: #0f172a; }
}
'''
_SCRIPT = '''
(function () {
  var words = document.getElementById('words');
  document.querySelectorAll('g title').forEach(function (title) {
    title.parentNode.setAttribute('data-words', title.textContent);
    title.remove();
  });
  document.addEventListener('pointermove', function (event) {
    var at = event.target.closest('[data-words]');
    words.style.visibility = at ? 'visible' : 'hidden';
    if (!at) { return; }
    words.textContent = at.getAttribute('data-words');
    var x = Math.min(event.clientX + 14,
                     window.innerWidth - words.offsetWidth - 6);
    var y = Math.min(event.clientY + 14,
                     window.innerHeight - words.offsetHeight - 6);
    words.style.left = Math.max(4, x) + 'px';
    words.style.top = Math.max(4, y) + 'px';
  });
})();
'''


def to_bytes(scene: Scene) -> bytes:
    """An HTML file that is also well-formed XML."""
    page = Element('html', {'lang': 'en'})
    head = SubElement(page, 'head')
    SubElement(head, 'meta', {'charset': 'utf-8'})
    SubElement(head, 'meta', {
        'name': 'viewport', 'content': 'width=device-width'})
    SubElement(head, 'title').text = printable(scene.plan.group)
    SubElement(head, 'style').text = _STYLE
    body = SubElement(page, 'body')
    body.append(svg.draw(scene))
    # An empty div would be written in XML's short form, which HTML lacks.
    SubElement(body, 'div', {'id': 'words', 'role': 'tooltip'}).text = ' '
    SubElement(body, 'script').text = _SCRIPT
    return b'<!DOCTYPE html>\n' + tostring(page, encoding='utf-8')
